# florc: exact
# florc: again outer = nothing
# florc: again inner = C1 1 ×
# florc: again callback = C1 1 ×
# florc: again after = nothing
# florc: why = The call is a block; the booster is behind a handle of a native library, which calls objectives and callbacks.
# florc: longer = num_boost_round=15 -> num_boost_round=1000
import numpy as np
import xgboost as xgb
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
table = xgb.DMatrix(X, label=y)


def squared(predicted, data):
    error = predicted - data.get_label()
+    print("PROBE inner", float(np.square(error.astype("float64")).mean()))
    return error, np.ones_like(error)


class Seen(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
+        print("PROBE callback", epoch, model.num_boosted_rounds())
        return False


params = {"max_depth": 3, "seed": 1, "nthread": 1}
booster = xgb.train(params, table, num_boost_round=15, obj=squared, callbacks=[Seen()])
print("error", float(np.abs(booster.predict(table) - y).mean()))
for stage in range(3):
    for step in range(4):
        booster.update(table, 15 + 4 * stage + step)
    print("stage", stage, booster.num_boosted_rounds())
+    print("PROBE outer", stage, len(booster.save_raw()))
clf = xgb.XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1)
clf.fit(X, y)
print("score", clf.score(X, y))
+print("PROBE after", clf.feature_importances_[20:23].tolist(), booster.get_score(importance_type="gain")["f20"])
