# florc: exact
# florc: again outer = C1 1 ×, lightning.pytorch.loops.fit_loop.L1 1 ×
# florc: again after = C1 1 ×
# florc: why = No sanity check, validations every other epoch: a replay that restores all never sets up, or iterates over, their loader.
# florc: longer = max_epochs=4 -> max_epochs=8
import logging
import warnings

import lightning as L
import torch

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
L.seed_everything(0, verbose=False)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 2))

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
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("val_loss", loss)
+        print("PROBE callback", index, loss.item())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


x = torch.randn(8000, 10)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
few = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:320], (x[:320].sum(1) > 0).long()), batch_size=32)
model = Net()
trainer = L.Trainer(
    max_epochs=4, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu",
    enable_model_summary=False, num_sanity_val_steps=0, check_val_every_n_epoch=2,
)
trainer.fit(model, loader, few)
print("loss", float(trainer.callback_metrics["loss"]))
+print("PROBE after", sum(p.abs().sum().item() for p in model.parameters()), trainer.global_step)
