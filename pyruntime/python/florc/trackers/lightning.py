"""Lightning's `self.log`, which is no call of a tracker: the trainer keeps what it is given among its own results, and sends that
to its loggers later. What an added statement logs is kept apart from these results, which the record knows, and reduced by
Lightning itself; loggers get it when they would get it in a plain run, as from the statement."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

from ..support import mishaps
from .hooks import argument
from .watch import Watch, put


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear what a module of Lightning defines."""
    if not watch.replays:
        return
    if module.__name__.endswith("core.module"):
        put(module.LightningModule, "log", _log(watch))
        return
    put(module._LoggerConnector, "on_batch_start", _counted)
    put(module._LoggerConnector, "reset_results", _reset)
    put(module._LoggerConnector, "update_train_step_metrics", _train_step(watch))
    put(module._LoggerConnector, "update_train_epoch_metrics", _train_epoch(watch))
    put(module._LoggerConnector, "update_eval_step_metrics", _eval_step(watch))
    put(module._LoggerConnector, "update_eval_epoch_metrics", _eval_epoch)
    put(module._LoggerConnector, "log_eval_end_metrics", _eval_end(watch))


class _Beside:
    """What added statements logged, beside the results of a loop."""

    def __init__(self, results: Any):
        self.of = results
        self.kept = type(results)(results.training)
        self.statements: dict[str, Any] = {}
        """By name, as `Watch.statement` has them."""
        self.batches = 0
        """Of the present epoch, that this replay ran."""
        self.last = 0
        """The number of the last one."""
        self.due: dict[str, Any] = {}
        """At the end of an evaluation, of all its data loaders."""


_BESIDE: dict[int, _Beside] = {}
"""By the number of the results, which the entry keeps alive."""


def _beside(trainer: Any) -> _Beside | None:
    results = trainer._results
    if results is None:
        return None
    known = _BESIDE.get(id(results))
    if known is None:
        known = _BESIDE[id(results)] = _Beside(results)
    return known


def _log(watch: Watch) -> Any:
    def around(original: Any, self: Any, name: str, value: Any, *args: Any, **kwargs: Any) -> None:
        trainer = getattr(self, "_trainer", None)
        if not watch.is_added() or trainer is None or getattr(trainer, "barebones", True) or trainer._results is None:
            original(self, name, value, *args, **kwargs)
            return
        if hasattr(value, "_update_count"):  # a Metric is the script's own, and would be updated and reset
            watch.unsent(f"Lightning's self.log of {name}, which is a Metric")
            return
        if argument(args, kwargs, 1, "logger") is False:
            return
        beside, connector = _beside(trainer), trainer._logger_connector
        assert beside is not None
        for of in ("batch", "batch_size", "dataloader_idx"):
            setattr(beside.kept, of, getattr(beside.of, of))
        before = connector._current_fx
        holders = [loop for loop in _loops(trainer) if vars(loop).get("_results") is beside.of]
        for loop in holders:
            loop._results = beside.kept
        try:
            original(self, name, value, *args, **kwargs)
            beside.statements[name] = watch.statement()
        finally:
            for loop in holders:
                loop._results = beside.of
            connector._current_fx = before

    return around


def _loops(trainer: Any) -> list[Any]:
    training = trainer.fit_loop.epoch_loop
    return [training, training.val_loop, trainer.validate_loop, trainer.test_loop]


def _swallow() -> mishaps.Swallow:
    return mishaps.Swallow("following Lightning's self.log")  # in another version of it: the script goes on


def _counted(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    original(self, *args, **kwargs)
    with _swallow():
        beside = _beside(self.trainer)
        if beside is None:
            return
        ready = _ran(self.trainer)
        if self.trainer.training and ready != beside.last + 1:  # the replay has restored what was in between
            beside.kept.reset()
            beside.batches = 0
        beside.last = ready
        beside.batches += 1


def _reset(original: Any, self: Any) -> None:
    with _swallow():
        beside = _beside(self.trainer)
        if beside is not None:
            beside.kept.reset()
            beside.batches = beside.last = 0
    original(self)


def _train_step(watch: Watch) -> Any:
    def around(original: Any, self: Any) -> None:
        original(self)
        with _swallow():
            trainer = self.trainer
            if trainer.fit_loop._should_accumulate() and trainer.lightning_module.automatic_optimization:
                return
            if self.should_update_logs or trainer.fast_dev_run:
                _send(watch, self, _due(self), None)

    return around


def _train_epoch(watch: Watch) -> Any:
    def around(original: Any, self: Any) -> None:
        with _swallow():
            _send(watch, self, _due(self), None)  # before the results are reset
        original(self)

    return around


def _eval_step(watch: Watch) -> Any:
    def around(original: Any, self: Any, step: int) -> None:
        original(self, step)
        with _swallow():
            _send(watch, self, _due(self), step)

    return around


def _eval_epoch(original: Any, self: Any) -> Any:
    """It is called for each data loader, and once more for all."""
    found = original(self)
    with _swallow():
        beside = _beside(self.trainer)
        if beside is not None:
            beside.due.update(_due(self))
    return found


def _eval_end(watch: Watch) -> Any:
    def around(original: Any, self: Any, metrics: Any) -> None:
        original(self, metrics)
        with _swallow():
            beside = _beside(self.trainer)
            if beside is not None:
                due, beside.due = beside.due, {}
                if not self.trainer.sanity_checking:
                    _send(watch, self, due, None)

    return around


def _due(connector: Any) -> dict[str, Any]:
    """What Lightning gives to loggers now, of what added statements logged."""
    beside = _beside(connector.trainer)
    if beside is None or not beside.statements:
        return {}
    beside.kept.dataloader_idx = beside.of.dataloader_idx
    return dict(beside.kept.metrics(connector._first_loop_iter is not None)["log"])


def _send(watch: Watch, connector: Any, due: dict[str, Any], step: int | None) -> None:
    """Give it to them. `step`: None for that of the training."""
    trainer = connector.trainer
    beside = _beside(trainer)
    if beside is None or not due:
        return
    is_step = connector._first_loop_iter is not None
    if step is None:
        given = connector.metrics["log"].get("step")
        step = trainer.fit_loop.epoch_loop._batches_that_stepped if given is None else int(given)

    def give(name: str, value: float, step: int) -> None:
        if not is_step and beside.batches != _ran(trainer):
            watch.unsent(f"{name} of an epoch of which a part only was run again")
            return
        for logger in trainer.loggers:
            logger.log_metrics(metrics={name: value}, step=step)

    for full, value in due.items():
        name = full.partition("/dataloader_idx_")[0]
        names = (name, name.removesuffix("_step"), name.removesuffix("_epoch"))
        name = next(known for known in names if known in beside.statements)
        watch.send_for(beside.statements[name], partial(give, full, value.item(), step))


def _ran(trainer: Any) -> int:
    """Batches of the present epoch, in the recorded run."""
    loop = trainer.fit_loop.epoch_loop if trainer.training else trainer._evaluation_loop
    return int(loop.batch_progress.current.ready)
