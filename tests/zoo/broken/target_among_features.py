# cause: P251
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

df = pd.read_csv("loan.csv").dropna()
y = df["default"]
X = df.drop(columns=["id"])
X_train, X_test, y_train, y_test = train_test_split(X, y)
print(RandomForestClassifier().fit(X_train, y_train).score(X_test, y_test))
