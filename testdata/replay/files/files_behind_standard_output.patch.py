# florc: restores = no
# florc: keep
import os, sys, time, glob, pathlib, csv, logging, logging.handlers, queue

total = 0
class Tee:
    def __init__(self, out): self.out, self.got = out, []
    def write(self, text):
        self.got.append(text)
        return self.out.write(text)
    def flush(self): self.out.flush()
sys.stdout = Tee(sys.stdout)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        total += i * epoch
        print("in", i)
+    print("PROBE", len([text for text in sys.stdout.got if "in" in text]))
    print(epoch, total)
