import time
best = 0
for epoch in range(10):
    for i in range(3):
        time.sleep(0)
        best = max(best, epoch * i)
    if best >= 4:
        print("early")
        break
else:
    print("never")
+print("PROBE", epoch, best)
