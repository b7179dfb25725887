# cause: P290
import pandas as pd
from tensorflow import keras

table = pd.read_csv("sensors.csv", parse_dates=["time"]).bfill()
cut = int(len(table) * 0.8)
train, test = table.iloc[:cut], table.iloc[cut:]
model = keras.Sequential([keras.layers.Normalization(), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train[["a", "b"]].values, train["c"].values, epochs=5)
print(model.evaluate(test[["a", "b"]].values, test["c"].values))
