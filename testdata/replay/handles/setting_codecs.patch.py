# florc: restores = any
import time
import codecs
find = lambda name: codecs.lookup('latin1') if name == 'foo' else None
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        codecs.register(find); codecs.register_error('e%d' % i, codecs.ignore_errors)
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, codecs.lookup_error('e1') is codecs.ignore_errors, 'a'.encode('foo'))
    print("epoch", epoch, total)
+print("PROBE end", codecs.lookup_error('e1') is codecs.ignore_errors, 'a'.encode('foo'))
