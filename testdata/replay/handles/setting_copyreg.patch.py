# florc: restores = any
import time
import copyreg
class Odd: pass
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        copyreg.pickle(Odd, lambda odd: (Odd, ()))
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, Odd in copyreg.dispatch_table)
    print("epoch", epoch, total)
+print("PROBE end", Odd in copyreg.dispatch_table)
