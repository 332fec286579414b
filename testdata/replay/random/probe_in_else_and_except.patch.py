import time
w = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        w += i
    try:
        print(6 // (w % 4))
    except ZeroDivisionError:
        print("zero")
+        print("PROBE zero", w)
    else:
        print("fine")
+        print("PROBE fine", w)
    finally:
+        print("PROBE finally", w)
        w += 1
