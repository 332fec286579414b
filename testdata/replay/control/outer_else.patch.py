import time
n = 0
for epoch in range(2):
    for i in range(3):
        time.sleep(0)
        n += 1
else:
    n += 100
    print("else", n)
+print("PROBE", n)
