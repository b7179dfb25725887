import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

df = pd.read_csv("heart.csv")
X_train, X_test, y_train, y_test = train_test_split(df.drop("target", axis=1), df["target"], random_state=0)
sc = StandardScaler()
X_train = sc.fit_transform(X_train)
X_test = sc.transform(X_test)
clf = LogisticRegression().fit(X_train, y_train)
print(clf.score(X_test, y_test))
