import time
w = ""
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        w = f"""a
  {epoch}
    b {i}"""
    print(w)
+    print("PROBE", repr(w))
