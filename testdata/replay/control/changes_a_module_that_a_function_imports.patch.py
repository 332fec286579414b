# florc: restores = any
import builtins, sys, os, time
builtins.cnt = 0
def bump():
    import builtins as b
    b.cnt += 1; os.mycount = getattr(os, 'mycount', 0) + 1
for e in range(3):
    for i in range(3): bump(); time.sleep(0)
+    print("PROBE", e, cnt, os.mycount)
    print(e)
