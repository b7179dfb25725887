# cause: P203
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("wine.csv")
X, y = df.drop(columns="quality"), df["quality"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
model = GradientBoostingClassifier()
model.fit(X, y)
print(accuracy_score(y_test, model.predict(X_test)))
