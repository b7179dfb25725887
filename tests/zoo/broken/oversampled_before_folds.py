# cause: P045
import pandas as pd
from imblearn.over_sampling import RandomOverSampler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

df = pd.read_csv("churn.csv")
X, y = df.drop("churn", axis=1).values, df["churn"].values
X_res, y_res = RandomOverSampler(random_state=0).fit_resample(X, y)
scores = []
for tr, te in StratifiedKFold(n_splits=5).split(X_res, y_res):
    clf = LogisticRegression()
    clf.fit(X_res[tr], y_res[tr])
    scores.append(clf.score(X_res[te], y_res[te]))
print(sum(scores) / 5)
