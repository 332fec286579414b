# florc: restores = any
import torch
from tqdm import tqdm
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.randn(8, 2), batch_size=2, shuffle=True)
for epoch in range(2):
    bar = tqdm(loader, mininterval=100, bar_format="{desc} {n}{postfix}\\n")
    for x in bar:
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()
+        print("PROBE", epoch, loss.item())
    bar.close()
    print(loss.item())
