# florc: why = a function that reads a name of the block's own function shares its cell: restoring one restores the other
import time
def main():
    best = 0
    def show():
        return best
    for epoch in range(4):
        for i in range(3):
            time.sleep(0)
            best += i * epoch
+        print("PROBE", best, show())
        print(epoch, show())
main()
