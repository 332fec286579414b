"""Fine-tune a classification head on top of a frozen text encoder.

Task: given a few words out of the Python language reference, say which
chapter they are from.
"""
import argparse
import copy
import hashlib
import random
import re
import zlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from pydoc_data.topics import topics
from torch.utils.data import DataLoader, Dataset, random_split
from tqdm import tqdm

VOCAB_SIZE = 24576
MAX_LEN = 16
NUM_CHAPTERS = 6
PER_CHAPTER = 180


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def tokenize(text):
    # feature hashing, crc32 is the same everywhere (unlike hash())
    return [zlib.crc32(w.encode()) % VOCAB_SIZE for w in re.findall(r"\w+|[^\w\s]", text.lower())]


class ChapterDataset(Dataset):
    def __init__(self):
        # the longest chapters
        self.chapters = sorted(topics, key=lambda k: (-len(topics[k]), k))[:NUM_CHAPTERS]
        self.examples = []
        for label, chapter in enumerate(self.chapters):
            ids = tokenize(topics[chapter])
            for start in range(0, len(ids) - MAX_LEN, MAX_LEN)[:PER_CHAPTER]:
                self.examples.append((ids[start:start + MAX_LEN], label))

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, idx):
        ids, label = self.examples[idx]
        return {"input_ids": torch.tensor(ids), "labels": torch.tensor(label)}


class Encoder(nn.Module):
    def __init__(self, hidden=256, layers=2, heads=8):
        super().__init__()
        self.embed = nn.Embedding(VOCAB_SIZE, hidden)
        self.position = nn.Embedding(MAX_LEN, hidden)
        block = nn.TransformerEncoderLayer(hidden, heads, 4 * hidden, dropout=0.1, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, layers)
        self.hidden = hidden

    def forward(self, input_ids):
        pos = torch.arange(input_ids.size(1), device=input_ids.device)
        x = self.embed(input_ids) + 0.1 * self.position(pos)
        return self.blocks(x)


class Classifier(nn.Module):
    def __init__(self, encoder, num_labels):
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(0.3)
        self.dense = nn.Linear(encoder.hidden, encoder.hidden)
        self.out = nn.Linear(encoder.hidden, num_labels)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()  # the backbone always stays in eval mode
        return self

    def forward(self, input_ids):
        with torch.no_grad():
            features = self.encoder(input_ids)
        pooled = features.mean(dim=1)
        x = torch.relu(self.dense(self.dropout(pooled)))
        return self.out(self.dropout(x))


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    losses, preds, golds = [], [], []
    for batch in loader:
        input_ids = batch["input_ids"].to(device)
        labels = batch["labels"].to(device)
        logits = model(input_ids)
        losses.append(F.cross_entropy(logits, labels, reduction="sum").item())
        preds.extend(logits.argmax(dim=-1).tolist())
        golds.extend(labels.tolist())
    acc = np.mean(np.array(preds) == np.array(golds))
    return sum(losses) / len(golds), float(acc)


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--batch_size", type=int, default=32)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--patience", type=int, default=2)
parser.add_argument("--seed", type=int, default=42)
parser.add_argument("--save", default=None, help="where to save the head")
args = parser.parse_args()

set_seed(args.seed)
device = "cuda" if torch.cuda.is_available() else "cpu"

dataset = ChapterDataset()
n_val = len(dataset) // 5
train_ds, val_ds = random_split(dataset, [len(dataset) - n_val, n_val])
loader = DataLoader(train_ds, batch_size=args.batch_size, shuffle=True)
val_loader = DataLoader(val_ds, batch_size=64)

encoder = Encoder()
encoder.requires_grad_(False)
encoder.eval()
model = Classifier(encoder, NUM_CHAPTERS).to(device)

trainable = [p for p in model.parameters() if p.requires_grad]
print("chapters:", ", ".join(dataset.chapters))
print(f"examples: {len(train_ds)} train, {len(val_ds)} val")
print(f"parameters: {sum(p.numel() for p in model.parameters()):,} total, "
      f"{sum(p.numel() for p in trainable):,} trainable")

optimizer = torch.optim.Adam(trainable, lr=args.lr)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)

history = []
best_loss = float("inf")
best_head = None
bad_epochs = 0

for epoch in range(1, args.epochs + 1):
    model.train()
    total_loss, seen = 0.0, 0
    bar = tqdm(loader, desc=f"epoch {epoch}", leave=False)
    for batch in bar:
        input_ids = batch["input_ids"].to(device)
        labels = batch["labels"].to(device)
        logits = model(input_ids)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(labels)
        seen += len(labels)
        bar.set_postfix(loss=f"{total_loss / seen:.4f}")

    val_loss, val_acc = evaluate(model, val_loader, device)
    scheduler.step(val_loss)
    history.append((epoch, total_loss / seen, val_loss, val_acc))
    print(f"epoch {epoch}: train loss {total_loss / seen:.4f}, "
          f"val loss {val_loss:.4f}, val acc {val_acc:.4f}")

    if val_loss < best_loss:
        best_loss = val_loss
        best_head = copy.deepcopy({k: v for k, v in model.state_dict().items()
                                   if not k.startswith("encoder.")})
        bad_epochs = 0
    else:
        bad_epochs += 1
        if bad_epochs >= args.patience:
            print(f"no improvement for {bad_epochs} epochs, stopping")
            break

model.load_state_dict(best_head, strict=False)
val_loss, val_acc = evaluate(model, val_loader, device)
print(f"best model: val loss {val_loss:.4f}, val acc {val_acc:.4f}")
print("val acc by epoch:", " ".join(f"{row[3]:.3f}" for row in history))
if args.save:
    torch.save(best_head, args.save)

digest = hashlib.sha256()
for name, value in sorted(model.state_dict().items()):
    digest.update(value.cpu().numpy().tobytes())
print("weights", digest.hexdigest()[:16])
