# florc: exact
# florc: why = what else leads to a moment (a list, a weak reference, its memory, the dict of a parameter) finds it as it is
import torch, weakref
torch.manual_seed(0)
net = torch.nn.Sequential(*[torch.nn.Linear(160, 160) for _ in range(4)])
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
kept = {}
x = torch.randn(8, 160)

for epoch in range(5):
    for step in range(2):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
    if epoch == 1:
        moments = [optimizer.state[layer.weight] for layer in net]
        kept["list"] = moments[0]["exp_avg"]
        kept["weak"] = weakref.ref(moments[1]["exp_avg"])
        kept["memory"] = moments[2]["exp_avg"].untyped_storage()
        kept["dict"] = moments[3]
        del moments
    print(epoch, loss.item())
+    if kept:
+        print("PROBE", epoch, float(kept["list"].double().sum()), float(kept["weak"]().double().sum()))
+        print("PROBE", sum(kept["memory"].tolist()[:4000]), float(kept["dict"]["exp_avg"].double().sum()))
