# florc: exact
# florc: restores = any
# florc: why = to read a property runs its getter, not its setter
import random
random.seed(1)


class Schedule:
    def __init__(self):
        self._rate, self.total = 0.1, 0.0

    @property
    def rate(self):
        return self._rate

    @rate.setter
    def rate(self, value):
        self._rate = value

    @rate.deleter
    def rate(self):
        self._rate = None


schedule = Schedule()
for epoch in range(4):
    for i in range(600):
        schedule.total += random.random() * schedule.rate
    schedule.rate = schedule.rate * 0.9
    print("epoch", epoch, schedule.total)
+    print("PROBE", epoch, schedule.rate, schedule.total)
