import heapq, queue, time
q, heap = queue.Queue(), []
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        heapq.heappush(heap, (i * 7 + epoch) % 5)
        if i % 2:
            heapq.heappop(heap)
    print(epoch, heap)
+    print("PROBE", heap)
