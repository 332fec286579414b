# florc: restores = any
import time
import helper
for epoch in range(3):
    for i in range(3):
        helper.step(i)
    print(helper.total)
+    print("PROBE", helper.total, helper.log)
=== helper.py
import time
total = 0
log = []
def step(i):
    global total
    time.sleep(0)
    total += i
    log.append(total)
