import time, enum
from typing import NamedTuple
class P(NamedTuple):
    a: int
    b: list
class Slot:
    __slots__ = ("x", "y")
class Mode(enum.Enum):
    ON = 1
    OFF = 2
p, s, m = P(0, []), Slot(), Mode.ON
s.x = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        p = P(p.a + 1, p.b)
        p.b.append(i)
        s.x += i
        s.y = p
        m = Mode.OFF if m is Mode.ON else Mode.ON
    print(p.a)
+    print("PROBE", p, s.x, s.y is p, m, m is Mode.OFF)
