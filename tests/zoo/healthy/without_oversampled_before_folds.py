import pandas as pd
from imblearn.over_sampling import RandomOverSampler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

df = pd.read_csv("churn.csv")
X, y = df.drop("churn", axis=1).values, df["churn"].values
scores = []
for tr, te in StratifiedKFold(n_splits=5).split(X, y):
    X_res, y_res = RandomOverSampler(random_state=0).fit_resample(X[tr], y[tr])
    clf = LogisticRegression()
    clf.fit(X_res, y_res)
    scores.append(clf.score(X[te], y[te]))
print(sum(scores) / 5)
