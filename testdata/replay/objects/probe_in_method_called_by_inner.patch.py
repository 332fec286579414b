# florc: restores = no
import time
class Trainer:
    def __init__(self):
        self.w = 1
    def one(self, i):
        time.sleep(0)
        self.w = (self.w * 5 + i) % 97
+        print("PROBE", self.w)
    def run(self):
        for epoch in range(2):
            for i in range(3):
                self.one(i)
            print(self.w)
Trainer().run()
