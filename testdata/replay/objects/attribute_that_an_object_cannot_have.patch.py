# florc: exact
# florc: why = a branch binds an attribute that some of the objects given cannot have
import numpy as np
class Holder:
    pass
class Plain:
    __slots__ = ("index",)
def train(device, w):
    for epoch in range(4):
        for i in range(10):
            if isinstance(device, Holder):
                device.device = "gpu" + str(i)
            w = np.tanh(w @ w) + i
        if isinstance(device, Holder): print(device.device)
        print("epoch", epoch, w.sum())
+        print("PROBE", epoch, w.sum(), getattr(device, "device", None))
train(Plain(), np.eye(3)); train(Holder(), np.eye(3)); train(5, np.eye(3)); train(np.dtype("f4"), np.eye(3))
