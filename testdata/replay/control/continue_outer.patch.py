import time
seen = []
for epoch in range(5):
    if epoch == 2:
        continue
    for i in range(3):
        time.sleep(0)
        if i == 1:
            continue
        seen.append((epoch, i))
    if epoch == 3:
        continue
    print(len(seen))
+print("PROBE", seen)
