# cause: P138
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

class Conversations(Dataset):
    def __init__(self, texts):
        self.encoded = tokenizer(texts, padding="max_length", truncation=True, max_length=512, return_tensors="pt")

    def __len__(self):
        return len(self.encoded["input_ids"])

    def __getitem__(self, i):
        return {key: value[i] for key, value in self.encoded.items()}

def train(texts):
    loader = DataLoader(Conversations(texts), batch_size=4, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    model.train()
    for batch in loader:
        input_ids, attention_mask = batch["input_ids"], batch["attention_mask"]
        outputs = model(input_ids=input_ids, attention_mask=attention_mask, labels=input_ids)
        optimizer.zero_grad()
        outputs.loss.backward()
        optimizer.step()
