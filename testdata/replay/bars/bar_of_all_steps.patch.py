import time
from tqdm import tqdm
bar = tqdm(range(9), mininterval=100, bar_format="{desc} {n}{postfix}\n")
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
        bar.update(1)
    print(w)
+    print("PROBE", epoch, bar.n, bar.total)
