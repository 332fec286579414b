import time
text = ""
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        text += f"{epoch}:{i};"
    print(len(text))
+    print("PROBE", text)
