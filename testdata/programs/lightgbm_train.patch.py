# florc: exact
# florc: again outer = nothing
# florc: again inner = C1 2 ×
# florc: again callback = C1 2 ×
# florc: again after = nothing
# florc: why = The call is a block; objectives and callbacks are called by the library, and run it again.
# florc: longer = table, 30 -> table, 1200
import lightgbm as lgb
import numpy as np
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
y = (y > 4).astype(float)


def logistic(predicted, data):
    share = 1 / (1 + np.exp(-predicted))
+    print("PROBE inner", float(share.mean()))
    return share - data.get_label(), share * (1 - share)


def seen(env):
+    print("PROBE callback", env.iteration, env.evaluation_result_list[0][2])
    return None


params = {"objective": logistic, "metric": "binary_logloss", "verbose": -1, "num_threads": 1, "seed": 3}
history = {}
for fold in range(2):
    table = lgb.Dataset(X[fold::2], y[fold::2])
    callbacks = [seen, lgb.record_evaluation(history)]
    booster = lgb.train(params, table, 30, valid_sets=[table], callbacks=callbacks)
    print("fold", fold, booster.num_trees())
+    print("PROBE outer", fold, booster.feature_importance()[20:24].tolist())
print("accuracy", float(((booster.predict(X) > 0) == y).mean()))
+print("PROBE after", booster.num_trees(), history["training"]["binary_logloss"][-1])
