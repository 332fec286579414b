# florc: restores = no
# florc: exact
# florc: why = Settings are read before and after a block, whoever changes them.
import decimal
import operator
total = decimal.Decimal(1)
change = operator.attrgetter("setcon" + "text")(decimal)
for epoch in range(3):
    for step in range(4):
        change(decimal.Context(prec=4 + epoch))
        total += decimal.Decimal(1) / 3
    print(epoch, total)
+    print("PROBE", epoch, decimal.Decimal(1) / 7)
