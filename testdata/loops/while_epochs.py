"""`while` loops: over epochs, over steps with a prefetcher, flat over steps with `break`."""
import torch

model, optimizer = make()
epoch, step, patience = 0, 0, 0

while epoch < 20 and patience < 3:
    prefetcher = Prefetcher(loader)
    images, labels = prefetcher.next()
    running = []
    while images is not None:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running.append(loss.item())
        step += 1
        images, labels = prefetcher.next()
    patience = patience + 1 if sum(running) > 10 else 0
    epoch += 1

for x in stream:
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step > 10000:
        break
print(step, loss)
