import time
import torch
whole = torch.zeros(3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        view = whole[1:]
    for i in range(3):
        time.sleep(0)
        whole += i
    print(epoch, view.sum())
+    print("PROBE", view.tolist(), whole.tolist())
