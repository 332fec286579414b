import time, collections
od = collections.OrderedDict()
seen = set()
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        od[(epoch * i) % 4] = i
        od.move_to_end((epoch * i) % 4)
        seen |= {i * epoch}
    print(len(od))
+    print("PROBE", list(od.items()), sorted(seen))
