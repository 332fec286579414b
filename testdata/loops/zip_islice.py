"""Two loaders side by side, the first hundred batches only, a cycle, counters by class, a schedule per step."""
from collections import Counter, OrderedDict
from itertools import cycle, islice

import torch
from tqdm import tqdm

student, teacher = make_student(), make_teacher().eval()
opt = torch.optim.AdamW(student.parameters())
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-3, total_steps=1000)
counts, log = Counter(), OrderedDict()
unlabelled = cycle(unlabelled_loader)

for epoch in range(10):
    bar = tqdm(enumerate(zip(labelled_loader, unlabelled)), total=len(labelled_loader))
    for i, ((x, y), u) in bar:
        with torch.no_grad():
            soft = teacher(u).softmax(1)
        loss = torch.nn.functional.cross_entropy(student(x), y) + torch.nn.functional.kl_div(student(u).log_softmax(1), soft)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        counts.update(y.tolist())
        bar.set_postfix(OrderedDict(loss=f"{loss.item():.3f}", lr=sched.get_last_lr()[0]))
    for x, y in islice(validation_loader, 100):
        log[epoch] = log.get(epoch, 0) + (student(x).argmax(1) == y).float().mean().item()
    print(counts.most_common(3), log[epoch])
