# florc: exact
# florc: restores = any
# florc: why = The training makes classes that no other process has, so the call runs again.
import logging

import lightning as L
import torch

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(0, verbose=False)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("loss", loss)
+        if index == 0: print("PROBE step", loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


x = torch.randn(320, 10)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
model = Net()
trainer = L.Trainer(
    max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu",
    enable_model_summary=False,
)
trainer.fit(model, loader)
print("loss", float(trainer.callback_metrics["loss"]))
+print("PROBE", sum(p.abs().sum().item() for p in model.parameters()), trainer.global_step)
