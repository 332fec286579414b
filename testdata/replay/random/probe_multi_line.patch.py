import time
w = {"a": 0}
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w["a"] += i
    print(w)
+    print(
+        "PROBE",
+        epoch,
+        w["a"],
+    )
+    for key, value in w.items():
+        print("PROBE", key,
+              value)
