"""A bar bound by `with`, a best loss kept, the model saved when it improves."""
import torch
from torch import nn
from tqdm import tqdm

model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
best_loss = float("inf")
history = {"train": [], "val": []}

for epoch in range(1, 11):
    model.train()
    running = 0.0
    with tqdm(train_loader, unit="batch") as pbar:
        for data, target in pbar:
            pbar.set_description(f"epoch {epoch}")
            optimizer.zero_grad(set_to_none=True)
            output = model(data)
            loss = criterion(output, target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item() * data.size(0)
            pbar.set_postfix(loss=loss.item())
    history["train"].append(running / len(train_loader.dataset))
    model.eval()
    val_loss, correct = 0.0, 0
    with torch.no_grad(), tqdm(total=len(val_loader)) as pbar:
        for data, target in val_loader:
            output = model(data)
            val_loss += criterion(output, target).item()
            correct += (output.argmax(dim=1) == target).sum().item()
            pbar.update(1)
    history["val"].append(val_loss)
    if val_loss < best_loss:
        best_loss = val_loss
        torch.save(model.state_dict(), "best.pt")
