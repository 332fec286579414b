import time, subprocess, sys, os
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        code = subprocess.call(["sh", "-c", f"echo sub {i}; exit {epoch}"])
    print(code, flush=True)
+    print("PROBE", code)
os.write(1, b"raw\n")
