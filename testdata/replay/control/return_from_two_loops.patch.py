# florc: restores = any
import time
def main():
    n = 0
    for epoch in range(5):
        for i in range(4):
            time.sleep(0)
            n += 1
            if n == 10:
                print("stop", n)
                return n
        print(epoch, n)
+        print("PROBE", epoch, n)
result = main()
+print("PROBE", result)
