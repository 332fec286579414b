"""Folds around epochs around mini-batches of a scikit-learn estimator."""
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold

X, y = load_data()
kf = KFold(n_splits=5, shuffle=True, random_state=0)
scores = []

for fold, (train_idx, test_idx) in enumerate(kf.split(X)):
    clf = SGDClassifier(loss="log_loss", random_state=fold)
    for epoch in range(20):
        order = np.random.permutation(train_idx)
        for start in range(0, len(order), 64):
            rows = order[start:start + 64]
            clf.partial_fit(X[rows], y[rows], classes=np.unique(y))
        print(fold, epoch, clf.score(X[test_idx], y[test_idx]))
    scores.append(accuracy_score(y[test_idx], clf.predict(X[test_idx])))
print(np.mean(scores))
