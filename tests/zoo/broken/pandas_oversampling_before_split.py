# cause: P045
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.ensemble import RandomForestClassifier

df = pd.read_csv("fraud.csv")
fraud = df[df["fraud"] == 1]
rest = df[df["fraud"] == 0]
fraud_up = fraud.sample(len(rest), replace=True, random_state=1)
both = pd.concat([rest, fraud_up])
train, test = train_test_split(both, test_size=0.2)
clf = RandomForestClassifier().fit(train.drop(columns="fraud"), train["fraud"])
print(clf.score(test.drop(columns="fraud"), test["fraud"]))
