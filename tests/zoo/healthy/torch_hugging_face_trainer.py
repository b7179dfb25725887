"""Fine-tuning with the Trainer of transformers."""

import numpy as np
from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

dataset = load_dataset("imdb")
tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")


def tokenize(rows):
    return tokenizer(rows["text"], truncation=True)


dataset = dataset.map(tokenize, batched=True)
split = dataset["train"].train_test_split(test_size=0.1, seed=1)
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=2)


def compute_metrics(predictions):
    scores, labels = predictions
    return {"accuracy": float((np.argmax(scores, axis=-1) == labels).mean())}


trainer = Trainer(
    model=model,
    args=TrainingArguments("out", num_train_epochs=2, per_device_train_batch_size=16),
    train_dataset=split["train"],
    eval_dataset=split["test"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate(dataset["test"]))
