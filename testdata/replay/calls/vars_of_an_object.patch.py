import time
class Settings: pass
settings = Settings()
settings.n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        vars(settings)["n"] += i
        vars(settings).update(last=i)
    print(epoch, settings.n)
+    print("PROBE", settings.n, settings.last)
