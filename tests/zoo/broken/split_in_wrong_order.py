# cause: P205
from sklearn.model_selection import train_test_split
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

X, y = load_iris(return_X_y=True)
X_train, y_train, X_test, y_test = train_test_split(X, y, test_size=0.2)
print(KNeighborsClassifier().fit(X_train, y_train).score(X_test, y_test))
