import time
def evaluate(w):
    '''Doc.'''
+    a = w + 1
+    print("PROBE", a)
    return w * 2
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
    print(evaluate(w))
