import numpy as np
import pandas as pd
from tensorflow.keras.models import load_model
from tensorflow.keras.preprocessing.image import ImageDataGenerator

df = pd.read_csv("test.csv")
gen = ImageDataGenerator(rescale=1 / 255.0)
test_gen = gen.flow_from_dataframe(
    df, directory="test", x_col="id", y_col=None, class_mode=None, target_size=(96, 96), batch_size=64, shuffle=False
)
model = load_model("cancer.h5")
preds = model.predict_generator(test_gen)
pd.DataFrame({"id": test_gen.filenames, "label": preds[:, 0]}).to_csv("submission.csv", index=False)
