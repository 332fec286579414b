# florc: restores = no
import collections, time
class Net:
    w = 0
a = Net()
import numpy
seen = numpy.zeros(9, numpy.int64)
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        a.w += epoch + i
        seen[i] = id(a)
    print(a.w)
+    print("PROBE", id(a) in seen)
