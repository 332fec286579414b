# florc: restores = any
import time
def train(queue):
    for i in range(5):
        queue.append(i)
        if len(queue) > 3:
            queue = queue[1:]
        time.sleep(0)
+    print("PROBE", queue)

for epoch in range(3):
    rows = [epoch]
    train(rows)
    print(epoch, rows)
