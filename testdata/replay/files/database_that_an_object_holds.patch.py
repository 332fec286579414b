# florc: restores = no
# florc: exact
import sqlite3, time
class Table:
    def __init__(self):
        self.base = sqlite3.connect("t.db")
        self.rows = self.base.cursor()
        self.rows.execute("create table t (step, total)")
    def __setitem__(self, step, total):
        self.rows.execute("insert into t values (?, ?)", (step, total))
    def all(self):
        return self.base.execute("select count(*), sum(total) from t").fetchall()
table = Table()
total = 0
for epoch in range(4):
    for step in range(3):
        time.sleep(0)
        total += step * epoch
        table[step] = total
+    print("PROBE", table.all())
    print(epoch, total)
