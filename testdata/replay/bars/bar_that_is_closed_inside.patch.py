import time
from tqdm import tqdm
bars = [tqdm(total=3, mininterval=100, bar_format="{desc} {n}{postfix}\n") for epoch in range(3)]
w = 0
for bar in bars:
    for i in range(3):
        time.sleep(0)
        w += i
        bar.update(1)
        if i == 2:
            bar.close()
    bar.update(1)
    print(w)
+    print("PROBE", [(b.n, b.disable) for b in bars])
