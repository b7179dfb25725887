import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

X, y = np.load("x.npy"), np.load("y.npy")
X_tr, X_te, y_tr, y_te = train_test_split(X, y)
pca = PCA(50).fit(X_tr)
print(SVC().fit(pca.transform(X_tr), y_tr).score(pca.transform(X_te), y_te))
