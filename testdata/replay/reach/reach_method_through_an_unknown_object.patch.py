# florc: restores = any
import time
class A:
    def __init__(self):
        self.n = 0
    def go(self):
        self.n += 1
+        print("PROBE", self.n)
class B(A):
    pass
class Holder:
    def __init__(self, parts):
        self.parts = parts
    def run(self):
        for part in self.parts:
            part.go()
A().go()
holder = Holder([B(), A()])
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        holder.run()
    print(epoch, [p.n for p in holder.parts])
