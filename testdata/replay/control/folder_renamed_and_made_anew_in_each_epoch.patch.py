# florc: flagged
import os, time
os.mkdir("kept")
weight = 1.0
for epoch in range(3):
    for step in range(3):
        weight *= 0.9
        with open(f"kept/{epoch}{step}", "w") as file:
            file.write("x")
        time.sleep(0)
+    print("PROBE", epoch, len(os.listdir("kept")))
    os.rename("kept", f"kept{epoch}")
    os.mkdir("kept")
    print(epoch)
