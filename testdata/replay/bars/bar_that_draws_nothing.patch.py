import time
from tqdm import tqdm
bar = tqdm(range(9), disable=True)
w = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w += i
        bar.update(1)
        bar.set_description_str(f"step {w}")
    print(w)
+    print("PROBE", epoch, bar.n, bar.disable, getattr(bar, "desc", None))
