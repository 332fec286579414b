import time
class Bank:
    def __init__(self): self._rows = {}
    def row(self, k):
        return self._rows.setdefault(k, [])
bank = Bank()
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        r = bank.row(i % 2)
        r.append(epoch)
    print(len(bank._rows))
+    print("PROBE", bank._rows)
