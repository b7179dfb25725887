# cause: P035
import pandas as pd
from sklearn.linear_model import LinearRegression

df = pd.read_csv("houses.csv")
df.dropna()
df.drop(["id", "date"], axis=1)
y = df.pop("price")
print(LinearRegression().fit(df, y).score(df, y))
