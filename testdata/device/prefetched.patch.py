# florc: exact
# florc: why = A stream beside the default one that brings the next batch, as prefetchers do; a generator of the device.
import torch
from torch import nn

torch.manual_seed(11)


class Prefetcher:
    stream = torch.cuda.Stream()

    def __init__(self, batches):
        self.batches = iter(batches)
        self.preload()

    def preload(self):
        try:
            batch = next(self.batches)
        except StopIteration:
            self.batch = None
            return
        with torch.cuda.stream(self.stream):
            self.batch = batch.cuda(non_blocking=True)
            self.batch = self.batch * 2
+            print("PROBE callback", self.batch.double().sum().item())

    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.batch
        if batch is not None:
            batch.record_stream(torch.cuda.current_stream())
        self.preload()
        return batch


noise = torch.Generator("cuda").manual_seed(2)
data = [torch.randn(256, 32).pin_memory() for _ in range(20)]
net = nn.Linear(32, 32, bias=False).cuda()
for epoch in range(6):
    prefetcher = Prefetcher(data)
    total = torch.zeros((), device="cuda")
    batch = prefetcher.next()
    while batch is not None:
        batch = batch + 0.1 * torch.randn(batch.shape, generator=noise, device="cuda")
        loss = (net(batch) - batch).pow(2).mean()
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.05 * p.grad
        total += loss.detach()
+        print("PROBE inner", epoch, loss.item())
        batch = prefetcher.next()
    print("epoch", epoch, total.item())
+    print("PROBE outer", epoch, torch.cuda.get_rng_state().sum().item(), net.weight.double().sum().item())
+print("PROBE after", torch.randn(3, generator=noise, device="cuda").tolist(), net.weight.double().norm().item())
