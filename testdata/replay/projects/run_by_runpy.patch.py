# florc: exact
# florc: why = `runpy` compiles what it runs by itself, not by an import.
import os
import runpy
runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "engine.py"), run_name="__main__")
runpy.run_module("other", run_name="__main__")
=== engine.py
import time
total = 0
for epoch in range(3):
    for step in range(4):
        time.sleep(0.01)
        total += step
    print("epoch", epoch, total)
+    print("PROBE", epoch, total * 2)
=== other.py
import time
total = 0
for epoch in range(3):
    for step in range(4):
        time.sleep(0.01)
        total += step
    print("other", epoch, total)
+    print("PROBE other", epoch, total * 3)
