# cause: P099
# The data comes from a library that the doctor does not know, and so does the training.
from company.data import load_data
from company.training import Experiment

train, test = load_data("birds")
Experiment("birds").run(train, test)
