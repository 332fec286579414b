# florc: exact
import time
items, other = [2, 3], [5]
box = {"k": other}
class Holder: pass
holder = Holder()
for epoch in range(4):
    for item in list(items):
        time.sleep(0)
        box["k"] = items if epoch % 2 else other
        holder.rows = [items, other]
    print(epoch, item)
+    print("PROBE", box["k"] is items, box["k"] is other, holder.rows[0] is items, holder.rows[1] is other, box)
    items.append(epoch)
