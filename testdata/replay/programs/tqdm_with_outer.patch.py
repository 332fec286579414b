# florc: restores = any
import time, sys
from tqdm import tqdm
w = 0
with tqdm(total=9, disable=True) as bar:
    for epoch in range(3):
        for i in range(3):
            time.sleep(0)
            w += i
            bar.update(1)
        print(w)
+        print("PROBE", w)
