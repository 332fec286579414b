# florc: restores = any
# florc: exact
import time
class Node:
    def __init__(self, v): self.v = v
    def bump(self, k):
        self.v += k
        return self
node = Node(2)
for epoch in range(3):
    for step in range(3):
        time.sleep(0)
        node = Node(epoch)
        node.bump(step)
    print(epoch)
+    print("PROBE", epoch)
