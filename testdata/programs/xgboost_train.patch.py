# florc: exact
# florc: why = The call is a block; the booster is behind a handle of a native library.
import xgboost as xgb
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
table = xgb.DMatrix(X, label=y)
params = {"objective": "multi:softmax", "num_class": 10, "max_depth": 3, "seed": 1, "nthread": 1}
booster = xgb.train(params, table, num_boost_round=15)
print("accuracy", float((booster.predict(table) == y).mean()))
+print("PROBE", booster.num_boosted_rounds(), booster.get_score(importance_type="gain")["f20"])
for stage in range(3):
    for step in range(4):
        booster.update(table, 15 + 4 * stage + step)
    print("stage", stage, booster.num_boosted_rounds())
+    print("PROBE", stage, len(booster.save_raw()))
clf = xgb.XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1)
clf.fit(X, y)
print("score", clf.score(X, y))
+print("PROBE", clf.feature_importances_[20:23].tolist())
