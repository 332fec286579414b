import time; w = 0
for epoch in range(3):
	for i in range(2): time.sleep(0); w += i
	print(w); x = w
+	print("PROBE", w); print("PROBE", x)
