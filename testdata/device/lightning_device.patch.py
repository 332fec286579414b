# florc: exact
# florc: why = Lightning on a device, mixed precision, with a learning rate that its optimizer's schedule moves.
import logging
import warnings

import lightning as L
import torch

logging.getLogger("lightning").setLevel(logging.ERROR)
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


x = torch.randn(640, 10)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
model = Net()
trainer = L.Trainer(
    max_epochs=4, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="gpu", devices=1,
    precision="16-mixed", enable_model_summary=False, num_sanity_val_steps=0,
)
trainer.fit(model, loader, loader)
print("loss", float(trainer.callback_metrics["loss"]))
+print("PROBE after", sum(p.abs().sum().item() for p in model.parameters()), trainer.global_step)
