import time, types
config = types.SimpleNamespace(lr=1.0)
import sys
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        config.lr *= 0.5
        sys.mine = getattr(sys, "mine", 0) + 1
    print(config.lr)
+    print("PROBE", config.lr, sys.mine)
