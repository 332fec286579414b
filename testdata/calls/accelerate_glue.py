"""A transformer fine-tuned with accelerate, a schedule with warm-up, a metric object, a tracker."""
import evaluate
import torch
import wandb
from accelerate import Accelerator
from tqdm.auto import tqdm
from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_scheduler


def main():
    accelerator = Accelerator(gradient_accumulation_steps=2)
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    model, optimizer, train_dl, eval_dl = accelerator.prepare(model, optimizer, make_loader(tokenizer), make_loader(tokenizer))
    lr_scheduler = get_scheduler("linear", optimizer=optimizer, num_warmup_steps=0, num_training_steps=1000)
    metric = evaluate.load("glue", "mrpc")
    progress_bar = tqdm(range(1000), disable=not accelerator.is_local_main_process)
    wandb.init(project="glue")
    completed_steps = 0
    for epoch in range(3):
        model.train()
        for step, batch in enumerate(train_dl):
            with accelerator.accumulate(model):
                outputs = model(**batch)
                loss = outputs.loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            progress_bar.update(1)
            completed_steps += 1
            wandb.log({"loss": loss.item(), "lr": lr_scheduler.get_last_lr()[0]}, step=completed_steps)
        model.eval()
        for batch in eval_dl:
            with torch.no_grad():
                outputs = model(**batch)
            predictions = accelerator.gather_for_metrics(outputs.logits.argmax(dim=-1))
            metric.add_batch(predictions=predictions, references=batch["labels"])
        accelerator.print(epoch, metric.compute())


if __name__ == "__main__":
    main()
