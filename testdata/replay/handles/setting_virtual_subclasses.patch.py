# florc: restores = any
import time
import abc
class Base(abc.ABC): pass
class Other: pass
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        Base.register(Other) if i == 2 and epoch == 1 else None
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, issubclass(Other, Base))
    print("epoch", epoch, total)
+print("PROBE end", issubclass(Other, Base))
