# florc: restores = any
import io, time
text, data = io.StringIO(), io.BytesIO()
total = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        total += i
        text.write(f"{epoch} {i};")
        data.write(bytes([epoch, i]))
    print(total)
+    print("PROBE", total, text.getvalue(), text.tell(), data.getvalue())
