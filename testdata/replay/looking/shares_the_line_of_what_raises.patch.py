# florc: exact
# florc: why = What an added statement raises stays with it; what its neighbour raises is the script's.
import time
found, lost = {}, 0
for epoch in range(3):
    for step in range(4):
        time.sleep(0.01)
        found[step] = epoch
    try:
-        lost = found[epoch * 3]
+        print("PROBE", epoch); lost = found[epoch * 3]
    except KeyError as error:
        print("no", error)
print("end", lost)
