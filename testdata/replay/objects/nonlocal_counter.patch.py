# florc: restores = any
import time
def main():
    n = 0
    def bump(by):
        nonlocal n
        time.sleep(0)
        n += by
    for epoch in range(3):
        for i in range(3):
            bump(i)
        print(epoch, n)
+        print("PROBE", n)
main()
