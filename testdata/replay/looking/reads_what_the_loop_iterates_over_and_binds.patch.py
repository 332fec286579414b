# florc: why = read after the loop by what was added only: the record had no need of it
# florc: restores = any
import time
def detached(pair):
    return [v for v in pair]

def train():
    hidden, queue = (0, 0), []
    for i in range(5):
        hidden = detached(hidden)
        hidden = (hidden[1] + i, hidden[0] + 1)
        for q in queue:
            time.sleep(0)
        queue = queue + [i]
        if len(queue) > 3:
            queue = queue[1:]
        time.sleep(0)
+    print("PROBE", hidden, queue)

for epoch in range(3):
    train()
    print(epoch)
