# florc: restores = any
import time
import socket
total, weights = 0, [0.0] * 3
for epoch in range(3):
    for i in range(3):
        socket.setdefaulttimeout(1 + i)
        total += i
        weights[i % 3] += i * epoch
+    print("PROBE", epoch, weights, socket.getdefaulttimeout())
    print("epoch", epoch, total)
+print("PROBE end", socket.getdefaulttimeout())
