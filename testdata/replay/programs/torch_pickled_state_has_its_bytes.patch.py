# florc: exact
# florc: why = the names in a restored state are one object each, as in the recorded run, or its pickle would have other bytes
import hashlib, io, torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(8, 8)

for epoch in range(4):
    for step in range(2):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
+    kept = io.BytesIO()
+    torch.save(optimizer.state_dict(), kept)
+    print("PROBE", epoch, hashlib.sha1(kept.getvalue()).hexdigest())
