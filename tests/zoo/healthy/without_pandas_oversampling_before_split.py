import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.ensemble import RandomForestClassifier

df = pd.read_csv("fraud.csv")
train, test = train_test_split(df, test_size=0.2)
fraud = train[train["fraud"] == 1]
rest = train[train["fraud"] == 0]
train = pd.concat([rest, fraud.sample(len(rest), replace=True, random_state=1)])
clf = RandomForestClassifier().fit(train.drop(columns="fraud"), train["fraud"])
print(clf.score(test.drop(columns="fraud"), test["fraud"]))
