# florc: unsure
# florc: keep
import sqlite3, time
def put(n):
    with sqlite3.connect("runs.db") as db:
        db.execute("create table if not exists t (a)")
        db.execute("insert into t values (?)", (n,))
    db.close()
n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        n += i
        put(n)
    print(epoch)
+    db = sqlite3.connect("runs.db"); print("PROBE", n, db.execute("select count(*) from t").fetchall()); db.close()
