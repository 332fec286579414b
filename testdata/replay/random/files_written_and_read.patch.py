# florc: restores = no
import time, json, os
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        with open("state.json", "w") as f:
            json.dump({"epoch": epoch, "i": i}, f)
    print(open("state.json").read())
+    print("PROBE", json.load(open("state.json")))
