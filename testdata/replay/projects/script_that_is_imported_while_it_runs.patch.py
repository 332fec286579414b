# florc: restores = any
import helper
COUNT = []
def step(w, i):
    COUNT.append(i)
+    print("PROBE", __name__, len(COUNT), w)
    return w * 0.99 + i
if __name__ == "__main__":
    w = 1.0
    for epoch in range(3):
        for i in range(4):
            w = step(w, i % 7)
        helper.demo(epoch)
        print("loss", w, len(COUNT))
=== helper.py
def demo(epoch):
    from train import COUNT, step
    for i in range(2):
        print("demo", step(1.0, epoch + i), len(COUNT))
