import time
def main():
    total = 0
    for epoch in range(3):
        for i in range(3):
            time.sleep(0)
            total += i
        print(total)
+        print("PROBE", total)
if __name__ == "__main__":
    main()
