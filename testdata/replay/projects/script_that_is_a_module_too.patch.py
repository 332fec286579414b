import helper
def step(w, i):
    return w * 0.99 + i
if __name__ == "__main__":
    w = 1.0
    for epoch in range(5):
        for i in range(200):
            w = step(w, i % 7)
+        print("PROBE", epoch, w * 2)
        print("loss", w)
=== helper.py
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from train import step as of_types
def demo():
    from train import step
    print(step(1.0, 2))
