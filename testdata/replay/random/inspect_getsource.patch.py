import time, inspect
def work(i):
    time.sleep(0)
    return i * 2
for epoch in range(2):
    for i in range(2):
        x = work(i)
    print(x)
+    print("PROBE", x)
print(inspect.getsource(work))
print(len(open(__file__).read()) > 10)
