# florc: exact
# florc: why = moments of 100 KB wait in the checkpoint until an added statement asks for them, in another way each epoch
import copy, pickle, torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(160, 160), torch.nn.Linear(160, 160))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
other = torch.optim.SGD(net[0].parameters(), lr=1e-3, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
x = torch.randn(8, 160)

def train():
    for step in range(2):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        other.step()
    return loss

for epoch in range(6):
    for part in range(2):
        loss = train()
    scheduler.step()
    print(epoch, loss.item())
+    weight = net[0].weight
+    print("PROBE", epoch, float(weight.double().sum()))
+    if epoch == 1: print("PROBE", float(optimizer.state[weight]["exp_avg"].double().sum()))
+    if epoch == 2: print("PROBE", float(other.state_dict()["state"][0]["momentum_buffer"].double().sum()))
+    if epoch == 3: print("PROBE", sum(float(held["exp_avg_sq"].double().sum()) for held in vars(optimizer)["state"].values()))
+    if epoch == 4: print("PROBE", float(copy.deepcopy(optimizer).state_dict()["state"][0]["exp_avg"].double().sum()))
print("done")
+print("PROBE", float(pickle.loads(pickle.dumps(optimizer)).state_dict()["state"][2]["exp_avg"].double().sum()))
