import time
lr = 0.1
batch = 4
config = {k: v for k, v in globals().items() if not k.startswith("_") and isinstance(v, (int, float, str))}
print(config)
print(sorted(k for k in globals() if not k.startswith("_")))
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        x = lr * i
    print(x)
+    print("PROBE", x, config)
