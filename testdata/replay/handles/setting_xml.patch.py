# florc: restores = any
import time
import xml.etree.ElementTree as tree
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        tree.register_namespace('n%d' % i, 'http://n%d' % i)
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, 'http://n1' in tree.register_namespace.__globals__['_namespace_map'])
    print("epoch", epoch, total)
+print("PROBE end", 'http://n1' in tree.register_namespace.__globals__['_namespace_map'])
