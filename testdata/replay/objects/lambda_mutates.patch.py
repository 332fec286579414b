import time
box = {"n": 0}
bump = lambda k: box.update(n=box["n"] + k)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        bump(i)
    print(box)
+    print("PROBE", box)
