# florc: restores = any
import time
import csv
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        csv.register_dialect('d%d' % i, delimiter=';'); csv.field_size_limit(1000 + i)
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, [d for d in csv.list_dialects() if d[0] == 'd'], csv.field_size_limit())
    print("epoch", epoch, total)
+print("PROBE end", [d for d in csv.list_dialects() if d[0] == 'd'], csv.field_size_limit())
