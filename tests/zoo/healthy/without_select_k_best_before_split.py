import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

df = pd.read_csv("genes.csv")
X, y = df.drop(columns=["tumour"]).values, df["tumour"].values
print(cross_val_score(make_pipeline(SelectKBest(f_classif, k=20), RandomForestClassifier()), X, y, cv=5).mean())
