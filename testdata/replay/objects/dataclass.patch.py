import time
from dataclasses import dataclass, field, replace
@dataclass
class State:
    step: int = 0
    losses: list = field(default_factory=list)
@dataclass(frozen=True)
class Config:
    lr: float
s = State()
c = Config(1.0)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        s.step += 1
        s.losses.append(i / s.step)
        c = replace(c, lr=c.lr * 0.9)
    print(s.step)
+    print("PROBE", s, c)
