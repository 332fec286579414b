import time
data = list(range(12))
total = 0
while (chunk := data[:4]):
    data = data[4:]
    for x in chunk:
        time.sleep(0)
        total += x
    print(total)
+    print("PROBE", chunk, total, data)
