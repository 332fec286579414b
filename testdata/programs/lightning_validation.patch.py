# florc: exact
# florc: again outer = C1 1 ×, lightning.pytorch.loops.fit_loop.L1 1 ×, lightning.pytorch.loops.training_epoch_loop.L1 4 ×
# florc: why = Lightning validates inside the last step of an epoch: the steps are a loop of their own, which is restored.
# florc: longer = max_epochs=4 -> max_epochs=16
import logging
import warnings

import lightning as L
import torch
import torchmetrics

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(0, verbose=False)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(64, 2))
        self.accuracy = torchmetrics.Accuracy("multiclass", num_classes=2)

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.accuracy(self.net(x), y)
        self.log("accuracy", self.accuracy)
+        print("PROBE inner", index, float(x.sum()), self.training)

    def on_validation_epoch_end(self):
        self.log("size", float(self.current_epoch))
+        print("PROBE outer", self.current_epoch, sum(p.abs().sum().item() for p in self.parameters()))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "accuracy"}}


class Best(L.Callback):
    best = 0.0

    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            Best.best = max(Best.best, float(trainer.callback_metrics["accuracy"]))
+            print("PROBE callback", Best.best, {name: float(value) for name, value in trainer.callback_metrics.items()})


x = torch.randn(960, 10)
y = (x.sum(1) > 0).long()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
held_out = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:64], y[:64]), batch_size=32)
model = Net()
trainer = L.Trainer(
    max_epochs=4, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu",
    enable_model_summary=False, callbacks=[Best()],
)
trainer.fit(model, loader, held_out)
print("best", Best.best, float(trainer.callback_metrics["loss"]))
+print("PROBE after", sum(p.abs().sum().item() for p in model.parameters()), trainer.global_step)
