# florc: exact
# florc: again outer = C1 1 ×, transformers.trainer.L6 1 ×
# florc: again after = C1 1 ×
# florc: why = TRL's trainers are transformers' Trainer: the steps of each epoch are restored inside the library.
# florc: longer = num_train_epochs=4 -> num_train_epochs=7
import torch
from datasets import Dataset, disable_progress_bars
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, PrinterCallback, TrainerCallback, set_seed
from trl import SFTConfig, SFTTrainer

set_seed(0)
disable_progress_bars()
words = ["<pad>", "<eos>", "<unk>"] + [f"w{i}" for i in range(60)]
inner = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
inner.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
rows = [{"text": " ".join(f"w{(i * k) % 60}" for k in range(12))} for i in range(1, 97)]
data = Dataset.from_list(rows)
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(words), n_positions=64, n_embd=64, n_layer=2, n_head=2, pad_token_id=0, eos_token_id=1, bos_token_id=1))


class Told(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
+        print("PROBE callback", state.global_step, sorted(logs)[:2], logs.get("loss"))
        return None

    def on_epoch_end(self, args, state, control, model=None, **kwargs):
        print("epoch", state.epoch, state.global_step)
+        print("PROBE outer", state.epoch, sum(float(p.detach().double().norm()) for p in model.parameters()))


class Tuner(SFTTrainer):
    def training_step(self, *arguments, **named):
        loss = super().training_step(*arguments, **named)
+        print("PROBE inner", self.state.global_step, loss.item())
        return loss


trainer = Tuner(
    model=model,
    args=SFTConfig(
        output_dir="out", num_train_epochs=4, per_device_train_batch_size=8, report_to=[],
        logging_steps=5, save_strategy="no", use_cpu=True, disable_tqdm=True, max_length=32,
    ),
    train_dataset=data,
    processing_class=tokenizer,
    callbacks=[Told()],
)
trainer.remove_callback(PrinterCallback)
result = trainer.train()
print("loss", result.training_loss)
+print("PROBE after", sum(float(p.detach().double().norm()) for p in model.parameters()))
