import sys
total = 0
for epoch in range(3):
    for step in range(2):
        import torch
        if epoch == step == 0: torch.manual_seed(0)
        total += float(torch.rand(1))
    print(epoch, total)
+print("PROBE", total, "torch" in sys.modules)
