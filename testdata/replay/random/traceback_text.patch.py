import time, traceback
def fail(i):
    time.sleep(0)
    raise ValueError(i)
for epoch in range(2):
    for i in range(2):
        try:
            fail(i)
        except ValueError:
            text = traceback.format_exc()
    print(text)
+    print("PROBE", len(text.splitlines()))
