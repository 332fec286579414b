import time
hidden = []
def f(i):
    time.sleep(0)
    hidden.append(i)
    return i
for epoch in range(3):
    t = 0
    for i in range(3):
        t += f(i)
    print(t)
+    print("PROBE", hidden)
