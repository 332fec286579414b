# florc: restores = any
import csv, io, time
text = io.StringIO()
rows = csv.writer(text)
total = 0
def keep(*row):
    rows.writerow(row)
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        total += i
        keep(epoch, i)
        print(total, file=text)
    print(total)
+    print("PROBE", total, repr(text.getvalue()))
