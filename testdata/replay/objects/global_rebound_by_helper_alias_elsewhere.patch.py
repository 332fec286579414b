import time
best = None
saved = []
def update(x):
    global best
    best = {"x": x}
    saved.append(best)
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        update(epoch * i)
    print(best)
+    print("PROBE", best, saved[-1] is best, len(saved))
