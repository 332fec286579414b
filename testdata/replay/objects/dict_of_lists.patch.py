import time, collections
hist = collections.defaultdict(list)
count = collections.Counter()
recent = collections.deque(maxlen=4)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        hist[i % 2].append(epoch)
        count[i] += epoch
        recent.append((epoch, i))
    print(len(hist))
+    print("PROBE", dict(hist), count, list(recent), recent.maxlen)
