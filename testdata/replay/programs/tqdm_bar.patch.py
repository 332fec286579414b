import time, sys
from tqdm import tqdm
w = 0
for epoch in range(3):
    bar = tqdm(range(3), disable=True)
    for i in bar:
        time.sleep(0)
        w += i
        bar.set_postfix(w=w)
    print(w)
+    print("PROBE", w)
