# florc: exact
import lightgbm as lgb
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
table = lgb.Dataset(X, y)
params = {"objective": "multiclass", "num_class": 10, "verbose": -1, "num_threads": 1, "seed": 3}
history = {}
booster = lgb.train(params, table, num_boost_round=10, valid_sets=[table], callbacks=[lgb.record_evaluation(history)])
print("accuracy", float((booster.predict(X).argmax(1) == y).mean()))
+print("PROBE", booster.num_trees(), history["training"]["multi_logloss"][-1])
