# florc: exact
# florc: why = Values that the device brings to the host on its own are read only when it has: by the script, and by florc.
import torch

torch.manual_seed(3)
weight = torch.randn(2048, 2048, device="cuda") / 64
losses = []
for epoch in range(6):
    for step in range(20):
        weight = torch.tanh(weight @ weight + 0.1 * torch.randn(2048, 2048, device="cuda"))
        last = weight.pow(2).mean().to("cpu", non_blocking=True)
+    print("PROBE inner", epoch, weight.double().norm().item())
    event = torch.cuda.Event()
    event.record()
    for wait in range(3):
        losses.append(wait)
    event.synchronize()
    print("epoch", epoch, last.item(), len(losses))
+    print("PROBE outer", epoch, last.item())
