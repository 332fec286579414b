# florc: exact
# florc: again after = C1 1 ×
# florc: why = The epochs are followed in the library; metrics and optimizers that the training made are restored in place.
# florc: longer = max_epochs=3 -> max_epochs=16
import logging

import lightning as L
import torch
import torchmetrics

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(0, verbose=False)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
        self.accuracy = torchmetrics.Accuracy("multiclass", num_classes=2)

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("loss", loss)
+        print("PROBE inner", index, loss.item())
        return loss

    def on_train_epoch_end(self):
+        print("PROBE outer", self.current_epoch, sum(p.abs().sum().item() for p in self.parameters()))
        return None

    def validation_step(self, batch, index):
        x, y = batch
        self.accuracy(self.net(x), y)
        self.log("accuracy", self.accuracy)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


class Seen(L.Callback):
    steps = []

    def on_train_epoch_end(self, trainer, module):
        self.steps.append(trainer.global_step)
+        print("PROBE callback", self.steps, {name: float(value) for name, value in trainer.callback_metrics.items()})


x = torch.randn(320, 10)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
model = Net()
trainer = L.Trainer(
    max_epochs=3, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu",
    enable_model_summary=False, callbacks=[Seen()],
)
trainer.fit(model, loader, loader)
print("loss", float(trainer.callback_metrics["loss"]))
+print("PROBE after", sum(p.abs().sum().item() for p in model.parameters()), trainer.global_step)
