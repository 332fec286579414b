"""Out-of-core learning: scikit-learn models taught chunk by chunk with partial_fit."""
import hashlib

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import IncrementalPCA
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

rng = np.random.RandomState(6)
X, y = load_digits(return_X_y=True)
X, y = shuffle(X, y, random_state=rng)
X_train, X_test, y_train, y_test = X[:1400], X[1400:], y[:1400], y[1400:]
all_classes = np.unique(y)


def iter_minibatches(X, y, minibatch_size):
    """Generator of noisy minibatches in a new order."""
    order = rng.permutation(len(X))
    for start in range(0, len(X), minibatch_size):
        chosen = order[start:start + minibatch_size]
        yield X[chosen] + rng.normal(0, 0.5, size=(len(chosen), X.shape[1])), y[chosen]


scaler = StandardScaler()
pca = IncrementalPCA(n_components=24)
kmeans = MiniBatchKMeans(n_clusters=10, random_state=rng, n_init=1)
partial_fit_classifiers = {
    'SGD': SGDClassifier(loss='log_loss', max_iter=5, random_state=1, average=10),
    'MLP': MLPClassifier(hidden_layer_sizes=(48,), random_state=rng, learning_rate_init=2e-3),
}
cls_stats = {name: {'n_train': 0, 'accuracy': [], 'loss': 0.0} for name in partial_fit_classifiers}

for X_batch, _ in iter_minibatches(X_train, y_train, 200):
    scaler.partial_fit(X_batch)
for X_batch, _ in iter_minibatches(X_train, y_train, 200):
    pca.partial_fit(scaler.transform(X_batch))


def transform(X):
    return pca.transform(scaler.transform(X))


def evaluate(cls_name, cls):
    probabilities = cls.predict_proba(transform(X_test))
    stats = cls_stats[cls_name]
    stats['accuracy'].append(accuracy_score(y_test, all_classes[probabilities.argmax(axis=1)]))
    stats['loss'] = log_loss(y_test, probabilities)
    return stats


for epoch in range(8):
    for i, (X_batch, y_batch) in enumerate(iter_minibatches(X_train, y_train, 50)):
        Z = transform(X_batch)
        kmeans.partial_fit(Z)
        for cls_name, cls in partial_fit_classifiers.items():
            cls.partial_fit(Z, y_batch, classes=all_classes)
            cls_stats[cls_name]['n_train'] += len(Z)
    for cls_name, cls in partial_fit_classifiers.items():
        stats = evaluate(cls_name, cls)
        print(f"epoch {epoch} {cls_name}: {stats['n_train']} seen, accuracy {stats['accuracy'][-1]:.4f}, "
              f"loss {stats['loss']:.6f}, inertia {kmeans.inertia_:.4f}")

confusion = confusion_matrix(y_test, partial_fit_classifiers['MLP'].predict(transform(X_test)))
print(confusion.diagonal().tolist())
digest = hashlib.sha256(partial_fit_classifiers['SGD'].coef_.tobytes())
for weights in partial_fit_classifiers['MLP'].coefs_:
    digest.update(weights.tobytes())
digest.update(kmeans.cluster_centers_.tobytes())
print('weights', digest.hexdigest()[:16])
