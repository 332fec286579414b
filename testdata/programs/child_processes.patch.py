# florc: exact
# florc: unordered
# florc: again outer = nothing
# florc: again after = nothing
# florc: why = A training is restored beside the processes that read its data: workers of a DataLoader, a pool of the script's.
# florc: longer = range(3) -> range(10)
import multiprocessing

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        one = torch.Generator().manual_seed(index)
        x = torch.randn(64, generator=one)
+        print("PROBE callback", index, float(x[0]))
        return x, int(x[:3].prod() > 0)


def scored(rate):
+    print("PROBE inner", rate)
    return rate * (1 - rate)


def main():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        rates = pool.map(scored, [0.1, 0.2, 0.3], chunksize=3)
    loader = DataLoader(Noisy(), batch_size=32, shuffle=True, num_workers=1)
    for epoch in range(3):
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, loss.item())
+        print("PROBE outer", epoch, sum(float(p.detach().double().norm()) for p in net.parameters()))
    print("rates", max(rates))
+    print("PROBE after", rates, [float(p.detach().double().sum()) for p in net.parameters()])


if __name__ == "__main__":
    main()
