# florc: restores = any
import time, multiprocessing as mp
def job(x):
    return x * x
if __name__ == "__main__":
    ctx = mp.get_context("fork")
    total = 0
    with ctx.Pool(2) as pool:
        for epoch in range(2):
            for i in range(2):
                total += sum(pool.map(job, range(i + 2)))
            print(total)
+            print("PROBE", total)
