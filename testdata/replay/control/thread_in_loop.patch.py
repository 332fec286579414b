# florc: restores = any
import time, threading
total = []
def work(k):
    time.sleep(0)
    total.append(k)
for epoch in range(3):
    for i in range(2):
        t = threading.Thread(target=work, args=(i,))
        t.start()
        t.join()
    print(sum(total))
+    print("PROBE", total)
