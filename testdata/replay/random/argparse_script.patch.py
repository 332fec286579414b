# florc: arguments = ["--epochs", "3"]
import time, argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--out")
args = parser.parse_args()
for epoch in range(args.epochs):
    for i in range(2):
        time.sleep(0)
        args.last = i + epoch
    print(args)
+    print("PROBE", args)
