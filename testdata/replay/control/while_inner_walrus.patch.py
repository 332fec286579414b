import time
queue = []
for epoch in range(3):
    queue.extend(range(epoch + 3))
    while (item := queue.pop() if queue else None) is not None:
        time.sleep(0)
        last = item
    print(epoch, item, last)
+    print("PROBE", item, last, queue)
