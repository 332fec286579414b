import time
step = 0
while True:
    for _ in range(3):
        time.sleep(0)
        step += 1
    print(step)
    if step >= 9:
        break
+print("PROBE", step)
