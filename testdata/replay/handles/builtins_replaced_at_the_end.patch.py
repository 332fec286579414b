import builtins, random, time
random.seed(3)
total = 0.0
for epoch in range(4):
    for step in range(3):
        time.sleep(0.003); total += random.random()
+    print("PROBE", total)
    print("epoch", epoch, total)
builtins.open = builtins.print = None
