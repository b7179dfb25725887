# cause: P045
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.ensemble import RandomForestClassifier

X, y = np.load("x.npy"), np.load("y.npy")
rare = X[y == 1]
X = np.concatenate([X] + [rare] * 9)
y = np.concatenate([y, np.ones(len(rare) * 9)])
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
print(RandomForestClassifier().fit(X_train, y_train).score(X_test, y_test))
