# florc: restores = any
import time
class Model:
    def partial_fit(self, x):
        self.inertia_ = getattr(self, "inertia_", 0.0) * 0.5 + x
model = Model()
models = {"a": model}
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        model.partial_fit(i)
+        print("PROBE", i, model.inertia_, "{} {}".format(models["a"].inertia_, i), round(model.inertia_, 2))
    print(epoch, model.inertia_)
