# florc: exact
# florc: restores = any
# florc: why = The state holds functions that the training made, so the call runs again; its values are right, its times no anomaly.
import torch
from transformers import BertConfig, BertForSequenceClassification, PrinterCallback, Trainer, TrainingArguments, set_seed

set_seed(0)


class Data(torch.utils.data.Dataset):
    def __init__(self, count):
        self.ids = torch.randint(0, 50, (count, 8), generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index].sum() % 2}


def compute_metrics(predicted):
    accuracy = float((predicted.predictions.argmax(-1) == predicted.label_ids).mean())
+    print("PROBE accuracy", accuracy)
    return {"accuracy": accuracy}


config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
model = BertForSequenceClassification(config)
args = TrainingArguments(
    "out", num_train_epochs=2, per_device_train_batch_size=16, report_to=[], save_strategy="no", eval_strategy="epoch",
    logging_steps=5, use_cpu=True, disable_tqdm=True,
)
trainer = Trainer(
    model=model, args=args, train_dataset=Data(160), eval_dataset=Data(32), compute_metrics=compute_metrics
)
trainer.remove_callback(PrinterCallback)
trainer.train()
print("loss", trainer.evaluate()["eval_loss"])
+print("PROBE", sum(p.abs().sum().item() for p in model.parameters()), trainer.state.global_step)
