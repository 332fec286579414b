# florc: restores = any
import time
import weakref
class Thing: pass
kept = []
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        thing = Thing(); kept.append(thing); weakref.finalize(thing, len, 'x')
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, len(kept), weakref.getweakrefcount(kept[-1]))
    print("epoch", epoch, total)
+print("PROBE end", len(kept), weakref.getweakrefcount(kept[-1]))
