# florc: restores = any
import time, decimal, fractions, datetime, pathlib, uuid
state = {}
for epoch in range(2):
    for i in range(2):
        time.sleep(0)
        state.update(d=decimal.Decimal("1.10") * i, f=fractions.Fraction(1, i + 2), t=datetime.timedelta(seconds=i),
                     p=pathlib.PurePosixPath("/a") / str(i), day=datetime.date(2020, 1, 1 + i), u=uuid.UUID(int=i))
    print(len(state))
+    print("PROBE", state)
