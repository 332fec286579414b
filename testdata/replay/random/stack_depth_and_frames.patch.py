# florc: restores = any
# florc: xfail = florc's own frames lie below the script's
import time, sys, traceback, inspect
print(len(inspect.stack()), sys._getframe().f_lineno)
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        x = sys._getframe().f_lineno
    print(x)
+    print("PROBE", i)
