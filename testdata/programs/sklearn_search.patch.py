# florc: exact
# florc: again outer = nothing
# florc: again inner = C1 1 ×
# florc: again callback = C4 3 ×
# florc: again after = nothing
# florc: why = Calls that fit are blocks; a scorer and a monitor are called by the library, and run its call again.
# florc: longer = "n_estimators": [5, 10] -> "n_estimators": [5, 20]
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_digits(return_X_y=True)


def scored(model, x, wanted):
    share = float((model.predict(x) == wanted).mean())
+    print("PROBE inner", model.max_depth, share)
    return share


def seen(stage, model, names):
+    print("PROBE callback", stage, model.train_score_[stage])
    return False


forest = RandomForestClassifier(random_state=0)
search = GridSearchCV(forest, {"n_estimators": [5, 10], "max_depth": [4, 8]}, cv=3, scoring=scored)
search.fit(X, y)
print("best", search.best_params_)
pipe = make_pipeline(StandardScaler(), MLPClassifier((16,), random_state=1, max_iter=300))
pipe.fit(X, y)
scores = cross_val_score(MLPClassifier((16,), random_state=2, max_iter=300), X, y, cv=2)
folds = []
for fold, (inner, outer) in enumerate(KFold(3, shuffle=True, random_state=0).split(X)):
    model = GradientBoostingClassifier(n_estimators=2, random_state=fold)
    model.fit(X[inner], y[inner], monitor=seen)
    folds.append(model.score(X[outer], y[outer]))
    print("fold", fold, folds[-1])
+    print("PROBE outer", fold, model.train_score_[-1])
print("mean", np.mean(folds))
+print("PROBE after", search.best_score_, pipe[-1].loss_, scores.mean())
