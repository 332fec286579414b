# florc: exact
# florc: restores = any
import time
def f(a, b):
    return a + b
total = 0
for epoch in range(3):
    for step in range(4):
        time.sleep(0.01)
-        total = f(total,
-    step); total = f(
-            total, 1
-  )
+        total = f(total,
+    step); print("PROBE a", total); total = f(
+            total, 1
+  ); print("PROBE b", total)
        # a comment at another column
-        total += 1; total += 0
+        print("PROBE c", """
+PROBE d"""); total += 1; total += 0
    print("epoch", epoch, total)
