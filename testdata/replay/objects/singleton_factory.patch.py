import time
_instance = None
class Logger:
    def __init__(self): self.rows = []
    def row(self, x): self.rows.append(x)
def get():
    global _instance
    if _instance is None:
        _instance = Logger()
    return _instance
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        get().row(i)
    print(len(get().rows))
+    print("PROBE", get().rows, get() is _instance)
