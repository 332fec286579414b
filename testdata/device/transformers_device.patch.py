# florc: exact
# florc: why = A Trainer of transformers on a device, in bfloat16.

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

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
+    print("PROBE callback", accuracy)
    return {"accuracy": accuracy}


class Seen(TrainerCallback):
    steps = []

    def on_epoch_end(self, args, state, control, **others):
        self.steps.append(state.global_step)
+        print("PROBE outer", state.epoch, self.steps, sum(p.abs().sum().item() for p in others["model"].parameters()))


class Classifier(BertForSequenceClassification):
    def forward(self, input_ids=None, labels=None, **named):
        out = super().forward(input_ids=input_ids, labels=labels, **named)
+        print("PROBE inner", self.training, float(out.logits.detach().double().sum()))
        return out


config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
model = Classifier(config)
args = TrainingArguments(
    "out", num_train_epochs=3, per_device_train_batch_size=8, report_to=[], save_strategy="no", eval_strategy="epoch",
    logging_steps=5, gradient_accumulation_steps=2, lr_scheduler_type="cosine", bf16=True, disable_tqdm=True,
)
trainer = Trainer(
    model=model, args=args, train_dataset=Data(160), eval_dataset=Data(32), compute_metrics=compute_metrics, callbacks=[Seen()]
)
trainer.remove_callback(PrinterCallback)
trainer.train()
print("loss", trainer.evaluate()["eval_loss"])
+print("PROBE after", sum(p.abs().sum().item() for p in model.parameters()), trainer.state.global_step)
