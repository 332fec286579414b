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
ids = torch.randint(0, 50, (96, 8))
rows = [{"input_ids": row, "labels": row.sum() % 2} for row in ids]


class Model(BertForSequenceClassification):
    def forward(self, input_ids, attention_mask=None, labels=None, **others):
        # in forward
        return super().forward(input_ids, attention_mask, labels=labels, **others)


def compute_metrics(found):
    accuracy = float((found.predictions.argmax(-1) == found.label_ids).mean())
    # in compute_metrics
    return {"accuracy": accuracy}


class Seen(TrainerCallback):
    def on_epoch_end(self, args, state, control, model, **others):
        # in on_epoch_end
        pass

    def on_evaluate(self, args, state, control, model, **others):
        # in on_evaluate
        pass


class Own(Trainer):
    def compute_loss(self, model, inputs, *given, **named):
        # in compute_loss
        return super().compute_loss(model, inputs, *given, **named)

    def training_step(self, model, inputs, *given, **named):
        # in training_step
        return super().training_step(model, inputs, *given, **named)


model = Model(BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16))
args = TrainingArguments(
    "out", num_train_epochs=3, report_to=[], save_strategy="no", eval_strategy="epoch", use_cpu=True, disable_tqdm=True
)
trainer = Own(
    model, args, train_dataset=rows[:64], eval_dataset=rows[64:], compute_metrics=compute_metrics, callbacks=[Seen()]
)
trainer.remove_callback(PrinterCallback)
trainer.train()
loss = trainer.state.log_history[-1]["train_loss"]
print("loss", round(loss, 4))
# behind the training
