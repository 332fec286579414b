import time
def evaluate(w):
+    print("PROBE", w)
    return w * 2
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
    print(evaluate(w))
