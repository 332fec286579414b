import time, heapq, bisect
h, s = [], []
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        heapq.heappush(h, (i * 7) % 5)
        bisect.insort(s, (i * 3 + epoch) % 4)
    x = heapq.heappop(h)
    print(x)
+    print("PROBE", x, h, s)
