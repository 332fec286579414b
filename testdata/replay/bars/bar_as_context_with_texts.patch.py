import time
from tqdm.auto import tqdm
w = 0
with tqdm(total=9, mininterval=100, bar_format="{desc} {n}{postfix}\n") as bar:
    for epoch in range(3):
        for i in range(3):
            time.sleep(0)
            w += i
            bar.update()
            bar.set_postfix(w=w, refresh=False)
            bar.set_description(f"epoch {epoch}", refresh=False)
        print(w)
+        print("PROBE", bar.n, bar.postfix, bar.desc)
    print("end", bar.n)
