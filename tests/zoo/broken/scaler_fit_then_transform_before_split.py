# cause: P048
import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

X, y = np.load("x.npy"), np.load("y.npy")
pca = PCA(50)
pca.fit(X)
X = pca.transform(X)
X_tr, X_te, y_tr, y_te = train_test_split(X, y)
print(SVC().fit(X_tr, y_tr).score(X_te, y_te))
