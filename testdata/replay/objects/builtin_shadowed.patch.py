import time
def print_(*a): print(*a)
list_ = list
sum = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        sum += i
    print(sum)
+    print("PROBE", sum)
