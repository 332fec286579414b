import time, os
w = 0
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        w += 1
    pid = os.fork()
    if pid == 0:
        os._exit(w)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
+    print("PROBE", w)
