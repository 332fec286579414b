# florc: restores = any
import time
class Bank:
    def __init__(self): self._rows = []
    @property
    def rows(self): return self._rows
    @property
    def mean(self):
        self.asked = getattr(self, "asked", 0) + 1
        return sum(self._rows) / max(1, len(self._rows))
bank = Bank()
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        bank.rows.append(i)
        m = bank.mean
    print(m)
+    print("PROBE", m, bank._rows, bank.asked)
