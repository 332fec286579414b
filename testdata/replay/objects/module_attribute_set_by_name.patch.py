# florc: restores = no
import time, sys
config = {"lr": 1.0}
sys.mine = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        config["lr"] *= 0.5
        setattr(sys, "mine", sys.mine + 1)
    print(config["lr"])
+    print("PROBE", config["lr"], sys.mine)
