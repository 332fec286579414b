import lightning
import torch
from torch.nn.functional import mse_loss

lightning.seed_everything(0, verbose=False)
x = torch.randn(64, 10)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(10, 1)

    def forward(self, x):
        # in forward
        return self.net(x)

    def training_step(self, batch, index):
        loss = mse_loss(self(batch[0]), batch[1])
        # in training_step
        return loss

    def validation_step(self, batch, index):
        # in validation_step
        self.log("loss", mse_loss(self.net(batch[0]), batch[1]))

    def on_validation_epoch_end(self):
        # in on_validation_epoch_end
        pass

    def on_train_epoch_end(self):
        # in on_train_epoch_end
        pass

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


model = Net()
trainer = lightning.Trainer(
    max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
)
trainer.fit(model, loader, loader)
print("loss", round(trainer.callback_metrics["loss"].item(), 4))
# behind the training
