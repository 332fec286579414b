"""Mixed precision with a gradient scaler, accumulation over batches, a scheduler stepped in the inner loop."""
import torch
import torch.nn.functional as F
from torch.cuda.amp import GradScaler, autocast

net = build_model().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=1000)
scaler = GradScaler()
accumulate = 4
global_step = 0

for epoch in range(5):
    net.train()
    optimizer.zero_grad()
    for i, batch in enumerate(loader):
        images = batch["image"].cuda(non_blocking=True)
        labels = batch["label"].cuda(non_blocking=True)
        with autocast():
            logits = net(images)
            loss = F.cross_entropy(logits, labels) / accumulate
        scaler.scale(loss).backward()
        if (i + 1) % accumulate == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            scheduler.step()
            global_step += 1
    print(epoch, loss.item() * accumulate, scheduler.get_last_lr()[0], global_step)
