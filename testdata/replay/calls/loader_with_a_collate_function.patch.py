# florc: restores = any
import time
import torch
torch.manual_seed(0)
lengths = []
def collate(rows):
    lengths.append(len(rows))
    return torch.stack(rows)
rows = [torch.tensor([float(i)]) for i in range(5)]
loader = torch.utils.data.DataLoader(rows, batch_size=2, shuffle=True, collate_fn=collate)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += batch.sum().item()
    print(epoch, total, lengths)
+    print("PROBE", lengths)
