# florc: why = whichever epoch a replay runs again, in the others the name must be bound anew
import time
class Node:
    def __init__(self):
        self.v, self.kids = 0, []
    def bump(self, k):
        self.v += k
        return self
def main():
    one = Node()
    for epoch in range(3):
        two = Node()
        for i in range(3):
            time.sleep(0)
            two = one.bump(1)
        two.v += 1
        two.kids.append(epoch)
+        print("PROBE", one.v, one.kids, one is two)
main()
