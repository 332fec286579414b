# florc: flagged
import time
log = open("log.txt", "w")
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        log.write(f"{epoch} {i}\n")
    print(log.tell())
+    print("PROBE", log.tell())
log.close()
print(len(open("log.txt").read()))
