import time
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        if i == epoch:
            how = "broke"
            break
    else:
        how = "through"
    print(epoch, how)
+    print("PROBE", how)
