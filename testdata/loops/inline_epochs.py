"""The most common shape: epochs and batches inline at module level."""
import torch
from torch import nn
from tqdm import tqdm

model = nn.Linear(4, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
best = 0.0

for epoch in range(3):
    model.train()
    total, correct = 0, 0
    bar = tqdm(train_loader)
    for step, (inputs, labels) in enumerate(bar):
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        total += labels.size(0)
        correct += (outputs.argmax(1) == labels).sum().item()
        bar.set_postfix(loss=loss.item())
        if step % 10 == 0:
            print(f"{epoch} {step} {loss.item():.4f}")
    scheduler.step()
    print(loss.item(), correct / total)

    model.eval()
    with torch.no_grad():
        hits = 0
        for inputs, labels in test_loader:
            hits += (model(inputs).argmax(1) == labels).sum().item()
    best = max(best, hits)
print("best", best)
