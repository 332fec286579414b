import time
vals = {}
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        vals = {"big": 10 ** 40 + i, "nan": float("nan"), "ninf": float("-inf"), "nz": -0.0, "c": 1 + 2j, "b": b"x\x00",
                "s": "\ud83d\ude00 \x00", "none": None, "e": ..., "t": (1, (2, [3])), "f": frozenset({1}), "r": range(3),
                "sl": slice(1, 2), True: 1, 2.5: "k", None: 0}
    print(len(vals))
+    print("PROBE", repr(vals))
