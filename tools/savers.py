"""Ways to make a state durable while training goes on, for bench_materialize.py: florc's engines and what else there is.

`start(state, path)` holds the training up until the state may change, and returns a handle: `done()` looks without waiting,
`wait()` waits, `bytes` is what was written. Every one of them ends with fsync, and every one of them writes the state as it
was when `start` was called: where a tool would write what training has made of it meanwhile, it is given a copy.
"""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from florc import _native

OURS = ("writer", "fork", "thread", "inline")


class Handle:
    """A save that goes on in the background."""

    def __init__(self, done: Callable[[], bool], path: str | None = None):
        self.done, self.path = done, path

    def wait(self) -> None:
        while not self.done():
            time.sleep(0.0005)

    @property
    def bytes(self) -> int:
        if self.path is None or not os.path.exists(self.path):
            return 0
        if os.path.isfile(self.path):
            return os.path.getsize(self.path)
        return sum(os.path.getsize(os.path.join(self.path, name)) for name in os.listdir(self.path))


FINISHED = Handle(lambda: True)


def durable(path: str, write: Callable[[Any], Any]) -> Handle:
    """A file that `write` fills, synced."""
    with open(path, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    return Handle(lambda: True, path)


class Florc:
    """One of our engines, used as record.py uses it. Made before torch is imported: the writer is cloned from one thread."""

    def __init__(self, engine: str, store: str, max_staging: int):
        from florc import _native

        process = "writer" if engine == "fork" else engine
        self.recorder = _native.Recorder(store, f"bench-{engine}", engine=process, max_staging=max_staging)
        if self.recorder.engine != process:
            raise RuntimeError(f"{engine}: {self.recorder.fallback}")
        self.forks = engine == "fork"
        self.room = 0
        """What a child may write: known from the first checkpoint, which is encoded here."""
        self.finished: dict[int, _native.Done] = {}

    def start(self, state: Any, path: str) -> Handle:
        def look(may_copy: bool = False) -> tuple:
            from florc import state as codec

            encoded = codec.encode({"state": state}, gradients=False, names={}, may_copy=may_copy)
            header = json.dumps(
                {"block": "L1", "key": path, "places": ["state"], "names": [], "gradients": False, "seconds": 1.0, "origins": {}}
            )
            return header, encoded.graph, encoded.leaves

        if self.forks and self.room:
            receipt = self.recorder.fork(self.room, look, 60.0, len(sys._current_frames()) > 1)
        else:
            found = look(may_copy=True)
            self.room = int(1.25 * (len(found[1]) + sum(map(len_of, found[2])) + 72 * len(found[2]))) + (1 << 16)
            receipt = self.recorder.submit(*found)
        if receipt is None:
            raise RuntimeError("no staging memory")
        return Pending(self, receipt["seq"])

    def is_done(self, seq: int) -> bool:
        for done in self.recorder.poll():
            if done.error:
                raise RuntimeError(done.error)
            self.finished[done.seq] = done
        return seq in self.finished


def len_of(leaf: Any) -> int:
    """Bytes of a leaf."""
    return getattr(leaf, "nbytes", None) or len(leaf)


class Pending(Handle):
    def __init__(self, florc: Florc, seq: int):
        super().__init__(lambda: florc.is_done(seq))
        self._florc, self._seq = florc, seq

    @property
    def bytes(self) -> int:
        return self._florc.finished[self._seq].bytes_written


def torch_save(state: Any, path: str) -> Handle:
    import torch

    return durable(path, lambda file: torch.save(state, file))


def cloudpickle_dump(state: Any, path: str) -> Handle:
    import cloudpickle

    return durable(path, lambda file: cloudpickle.dump(state, file))


def safetensors_save(state: Any, path: str) -> Handle:
    import safetensors.torch

    safetensors.torch.save_file(tensors_of(state), path)  # it does not sync
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    return Handle(lambda: True, path)


def tensors_of(value: Any, name: str = "state") -> dict:
    """The tensors of nested dicts and lists by path. Raises TypeError where there is nothing else."""
    import torch

    if isinstance(value, torch.Tensor):
        return {name: value.detach()}
    found: dict = {}
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found.update(tensors_of(item, f"{name}.{key}"))
    if name == "state" and not found:
        raise TypeError("holds tensors only")
    return found


def fork_torch_save(state: Any, path: str) -> Handle:
    """The paper's technical report. The child may not start OpenMP: torch.save of dense tensors does not."""
    child = os.fork()
    if child == 0:
        try:
            torch_save(state, path)
        finally:
            os._exit(0)
    ended: list[int] = []

    def done() -> bool:
        if not ended and os.waitpid(child, os.WNOHANG)[0] == child:
            ended.append(child)
        return bool(ended)

    return Handle(done, path)


def thread_over_clones(state: Any, path: str) -> Handle:
    """A copy, and a Python thread that saves it."""
    copied = copied_state(state)
    worker = threading.Thread(target=torch_save, args=(copied, path))
    worker.start()
    return Handle(lambda: not worker.is_alive(), path)


def copied_state(state: Any) -> Any:
    return copy.deepcopy(state)


class Queue:
    """multiprocessing.Queue to a process that writes. Queue pickles in a thread, later, so it gets a copy."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self.states, self.answers = context.Queue(), context.Queue()
        self.process = context.Process(target=self._serve, daemon=True)
        self.process.start()

    def _serve(self) -> None:
        while True:
            state, path = self.states.get()
            durable(path, lambda file: pickle.dump(state, file, protocol=5))
            self.answers.put(path)

    def start(self, state: Any, path: str) -> Handle:
        self.states.put((as_arrays(copied_state(state)), path))
        answered: list[str] = []

        def done() -> bool:
            if not answered and not self.answers.empty():
                answered.append(self.answers.get())
            return bool(answered)

        return Handle(done, path)


def as_arrays(value: Any) -> Any:
    """Tensors as arrays: torch would send descriptors of shared memory, one for each tensor, and run out of them."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().numpy()
    if isinstance(value, dict) and any(isinstance(item, (dict, list, torch.Tensor)) for item in value.values()):
        return {key: as_arrays(item) for key, item in value.items()}
    return value


class Dcp:
    """torch.distributed.checkpoint.async_save, with a process group of one."""

    def __init__(self, kind: str, folder: str):
        import torch.distributed as dist
        from torch.distributed.checkpoint import state_dict_saver

        if not dist.is_initialized():
            dist.init_process_group("gloo", store=dist.FileStore(os.path.join(folder, "group"), 1), rank=0, world_size=1)
        self.kind = getattr(state_dict_saver.AsyncCheckpointerType, kind.upper())
        self.save = state_dict_saver.async_save

    def start(self, state: Any, path: str) -> Handle:
        state = state if isinstance(state, dict) else {"state": state}
        future: Any = self.save(state, checkpoint_id=path, async_checkpointer_type=self.kind)

        def done() -> bool:
            if future.done():
                future.result()
                return True
            return False

        return Handle(done, path)


def all_savers(folder: str, florcs: dict[str, Florc]) -> dict[str, Callable[[], Callable[[Any, str], Handle]]]:
    """Name -> what makes a `start`."""
    made: dict[str, Callable[[], Callable[[Any, str], Handle]]] = {}
    for engine, florc in florcs.items():
        made[f"florc, {engine}"] = partial(getattr, florc, "start")
    made.update(
        {
            "torch.save": lambda: torch_save,
            "cloudpickle": lambda: cloudpickle_dump,
            "safetensors": lambda: safetensors_save,
            "fork + torch.save": lambda: fork_torch_save,
            "thread over a copy": lambda: thread_over_clones,
            "multiprocessing.Queue": lambda: Queue().start,
            "DCP async_save, thread": lambda: Dcp("thread", folder).start,
            "DCP async_save, process": lambda: Dcp("process", folder).start,
        }
    )
    return made
