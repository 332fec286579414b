# florc: restores = any
import time
import mimetypes
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        mimetypes.add_type('a/b%d' % i, '.zz%d' % i)
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, mimetypes.guess_type('q.zz1'))
    print("epoch", epoch, total)
+print("PROBE end", mimetypes.guess_type('q.zz1'))
