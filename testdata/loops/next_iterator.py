"""Steps over an iterator that is made anew when it is used up."""
import torch

model, optimizer = make()
data_iter = iter(train_loader)
losses = []

for epoch in range(10):
    for step in range(100):
        try:
            x, y = next(data_iter)
        except StopIteration:
            data_iter = iter(train_loader)
            x, y = next(data_iter)
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(epoch, sum(losses[-100:]) / 100)
