import time
from tqdm import tqdm
w = 0
for epoch in range(3):
    bar = tqdm([1, 2, 3], mininterval=100, bar_format="{desc} {n}{postfix}\n")
    for x in bar:
        time.sleep(0)
        w += x
        bar.set_postfix(w=w, refresh=False)
    bar.set_description("done", refresh=False)
    print(w)
+    print("PROBE", bar.n, bar.disable, bar.postfix)
