"""A loop of a library that is compiled in another form (`followed.toml`, `rewritten`): it makes the same calls in the same order."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest
from florc import _native

pytest.importorskip("lightning", reason="make test-trainers")
import lightning as L
import torch
from lightning.pytorch.loops import training_epoch_loop

Loop = training_epoch_loop._TrainingEpochLoop
MODULE = Loop.__module__
CASES: dict[str, dict[str, Any]] = {
    "each epoch": {},
    "twice in an epoch": {"val_check_interval": 0.5},
    "every three steps across epochs": {"val_check_interval": 3, "check_val_every_n_epoch": None},
    "every second epoch": {"check_val_every_n_epoch": 2},
    "max_steps in the middle": {"max_steps": 6},
    "min_steps": {"max_epochs": 1, "min_steps": 6},
    "no validation": {"limit_val_batches": 0},
    "few batches": {"limit_train_batches": 2},
    "a part of them": {"limit_train_batches": 0.5, "limit_val_batches": 1},
    "accumulated": {"accumulate_grad_batches": 3},
    "sanity": {"num_sanity_val_steps": 2},
    "fast": {"fast_dev_run": 2},
    "one batch again": {"overfit_batches": 1},
    "by the clock": {"val_check_interval": "00:00:00:00"},
}


def _rewritten() -> Any:
    """`run` as florc compiles it."""
    project = _native.Project(lambda name: None)
    file = inspect.getsourcefile(Loop)
    assert file is not None
    project.add_library(MODULE, MODULE.rpartition(".")[0], file, inspect.getsource(training_epoch_loop))
    made = project.instrument(file)
    assert made is not None and made.changed
    text = made.undo()  # without what records: the form alone
    assert "_florc_step" in text
    names: dict[str, Any] = {"__name__": MODULE, "__package__": MODULE.rpartition(".")[0]}
    exec(compile(text, file, "exec"), names)
    return names[Loop.__name__].run


class Net(L.LightningModule):
    def __init__(self, told: list[str], event: str) -> None:
        super().__init__()
        self.net, self.told, self.event = torch.nn.Linear(4, 1), told, event

    def on_train_batch_start(self, batch: Any, index: int) -> int | None:
        return -1 if self.event == "skips the rest" and index == 2 else None

    def training_step(self, batch: Any, index: int) -> Any:
        self.told.append(f"step {self.current_epoch} {index}")
        if self.event == "an error" and index == 2:
            raise ZeroDivisionError
        if self.event == "an interrupt" and index == 2:
            raise KeyboardInterrupt
        if self.event == "stops" and index == 2:
            self.trainer.should_stop = True
        if self.event == "no more" and index == 2:
            raise StopIteration
        return self.net(batch[0]).mean()

    def validation_step(self, batch: Any, index: int) -> None:
        self.told.append(f"validation {index}")
        self.log("loss", self.net(batch[0]).mean())
        if self.event == "stops in validation" and not self.trainer.sanity_checking:
            self.trainer.should_stop = True

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), 0.1)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        scheduler = {"scheduler": plateau, "monitor": "loss", "interval": "step", "strict": False}
        return {"optimizer": optimizer, "lr_scheduler": scheduler}

    def lr_scheduler_step(self, scheduler: Any, metric: Any) -> None:
        self.told.append("scheduler")
        if self.event == "stops behind a step":
            self.trainer.should_stop = True


EVENTS = ["skips the rest", "an error", "an interrupt", "stops", "no more", "stops in validation", "stops behind a step"]


def _calls(monkeypatch: pytest.MonkeyPatch, run: Any, options: dict[str, Any], event: str) -> list[str]:
    """What is called in which order."""
    told: list[str] = []
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(Loop, "run", run)
        for name in {"advance", "on_advance_end", "on_iteration_done"}.intersection(dir(Loop)):  # the last one from 2.5 on
            real = getattr(Loop, name)

            def called(self: Any, *given: Any, real: Any = real, name: str = name) -> Any:
                told.append(name)
                return real(self, *given)

            patch.setattr(Loop, name, called)
        is_done = Loop.done.fget

        def done(self: Any) -> bool:
            found = is_done(self)
            told.append(f"done {found}")
            return found

        patch.setattr(Loop, "done", property(done))
        torch.manual_seed(0)
        data = torch.utils.data.TensorDataset(torch.randn(16, 4))
        loader = torch.utils.data.DataLoader(data, batch_size=4)
        given: dict[str, Any] = {"max_epochs": 3, **options}
        quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
        trainer = L.Trainer(accelerator="cpu", **quiet, **given)
        net = Net(told, event)
        try:
            trainer.fit(net, loader, loader)
        except BaseException as error:
            told.append(type(error).__name__)
        told.append(f"{trainer.global_step} {trainer.current_epoch} {net.net.weight.sum().item()}")
    return told


@pytest.mark.parametrize("name", [*CASES, *EVENTS])
def test_the_same_calls_in_the_same_order(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options, event = CASES.get(name, {}), name if name in EVENTS else ""
    if name == "by the clock" and "timedelta" not in str(inspect.signature(L.Trainer).parameters["val_check_interval"]):
        pytest.skip("not before 2.6")
    if event == "stops":
        options = {"min_epochs": 2}
    plain = _calls(monkeypatch, Loop.run, options, event)
    assert len(plain) > 5
    assert _calls(monkeypatch, _rewritten(), options, event) == plain
