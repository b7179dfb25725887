# cause: P048
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import cross_val_score

df = pd.read_csv("genes.csv")
X, y = df.drop(columns=["tumour"]).values, df["tumour"].values
X_best = SelectKBest(f_classif, k=20).fit_transform(X, y)
print(cross_val_score(RandomForestClassifier(), X_best, y, cv=5).mean())
