# florc: restores = any
import time
class Node:
    def __init__(self, v, nxt): self.v, self.next = v, nxt
head = Node(0, None)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        head = Node(i, head)
        node = head
        while node.next is not None:
            node.v += 1
            node = node.next
    print(head.v)
+    vs, n = [], head
+    while n: vs.append(n.v); n = n.next
+    print("PROBE", vs)
