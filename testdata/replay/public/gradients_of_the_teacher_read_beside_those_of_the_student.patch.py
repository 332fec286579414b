# florc: restores = any
import time, torch
torch.manual_seed(0)
x = torch.randn(16, 4)
teacher, student = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
opt = torch.optim.SGD(teacher.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(4):
        time.sleep(0)
        loss = (teacher(x) - 1).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print("teacher", epoch, loss.item())

def batches():
    for i in range(4):
        time.sleep(0)
        yield x

optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for epoch in range(3):
    for batch in batches():
        with torch.no_grad():
            goal = teacher(batch)
        loss = (student(batch) - goal).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
+        for p in teacher.parameters():
+            if p.grad is not None: print("PROBE", epoch, p.grad.norm().item())
    print("student", epoch, loss.item())
