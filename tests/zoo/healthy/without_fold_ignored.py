import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

X, y = np.load("x.npy"), np.load("y.npy")
scores = []
for train_idx, test_idx in StratifiedKFold(5).split(X, y):
    clf = SVC()
    clf.fit(X[train_idx], y[train_idx])
    scores.append(clf.score(X[test_idx], y[test_idx]))
print(np.mean(scores))
