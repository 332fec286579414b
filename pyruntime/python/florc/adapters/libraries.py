"""Facts about the objects of libraries, one entry a package. A package that is not listed is walked like the script's own
classes: its objects then cost larger checkpoints, or blocks that run again."""

from __future__ import annotations

from ..support.light import NamedTuple


class Library(NamedTuple):
    """What florc knows of the classes of one package. The entry of the longest name that matches a class's module decides."""

    by_reference: bool = False
    """No checkpoint holds the state of its objects: a handle, a lock, a compiled function. The live object stays."""
    is_output: bool = False
    """A program only writes to its objects: they may change in a block that is restored. They are by reference, too."""
    is_pickled: bool = False
    """Its objects hold memory that Python cannot see, and pickle copies all of it."""
    pickles_handles: bool = False
    """The pickle of its `Booster` holds all that a native library keeps for it."""
    caches: frozenset[str] = frozenset()
    """Attributes that are filled when somebody asks, and cleared when the object changes: to fill them is no side effect."""
    rebound: frozenset[str] = frozenset()
    """Attributes with a list that is made anew at every step and handed out: an old list may be in somebody's history."""
    renewed: frozenset[str] = frozenset()
    """Dicts into which a property puts equal values anew when it is read: which of them are one object tells nothing."""
    durations: frozenset[str] = frozenset()
    """Attributes that tell how long something took: another number in every run. `a.b`: what is called `b` in one called `a`."""
    handles: frozenset[str] = frozenset()
    """Attributes that lead to another process of the run, which is gone when a replay restores the object: None there."""
    cloudpickle: str = ""
    """The module that pickles functions by value."""


_REFERENCE = Library(by_reference=True)
_OUTPUT = Library(by_reference=True, is_output=True)
_PICKLED = Library(is_pickled=True)

LIBRARIES: dict[str, Library] = {
    "aim": _OUTPUT,
    "clearml": _OUTPUT,
    "cloudpickle": Library(cloudpickle="cloudpickle.cloudpickle"),
    "comet_ml": _OUTPUT,
    "florc": _REFERENCE,
    "fsspec": _REFERENCE,
    "gymnasium": Library(durations=frozenset({"time_queue"})),
    "h5py": _REFERENCE,
    "inspect": _PICKLED,
    "joblib": Library(cloudpickle="joblib.externals.cloudpickle.cloudpickle"),
    "lightgbm.basic": Library(by_reference=True, pickles_handles=True),
    "lightning.pytorch": Library(renewed=frozenset({"_callback_metrics", "_logged_metrics", "_progress_bar_metrics"})),
    "lmdb": _REFERENCE,
    "matplotlib": _OUTPUT,
    "mlflow": _OUTPUT,
    "neptune": _OUTPUT,
    "pandas": _PICKLED,
    "polars": _PICKLED,
    "pyarrow": _PICKLED,
    "pyspark": Library(cloudpickle="pyspark.cloudpickle.cloudpickle"),
    "ray": Library(by_reference=True, cloudpickle="ray.cloudpickle.cloudpickle"),
    "ray.train": Library(),
    "ray.tune": Library(handles=frozenset({"_default_result_or_future"})),
    "rich": _OUTPUT,
    "sklearn": Library(
        durations=frozenset(
            {"refit_time_", "fit_time", "score_time"}
            | {f"{what}_{step}_time" for what in ("mean", "std") for step in ("fit", "score")}
        )
    ),
    "srsly": Library(cloudpickle="srsly.cloudpickle.cloudpickle"),
    "stable_baselines3": Library(
        durations=frozenset({"ep_info_buffer.t", "episode_times", "buf_infos.episode.t", "infos.episode.t"})
    ),
    "tensorboard": _OUTPUT,
    "tensorboardX": _OUTPUT,
    "torch._C": _REFERENCE,
    "torch._dynamo": _REFERENCE,
    "torch._inductor": _REFERENCE,
    "torch.autograd": _REFERENCE,
    "torch.cuda": _REFERENCE,
    "torch.cuda.amp": Library(),
    "torch.distributed": _REFERENCE,
    "torch.distributed.optim": Library(),
    "torch.fx": _REFERENCE,
    "torch.multiprocessing": _REFERENCE,
    "torch.optim": Library(rebound=frozenset({"_last_lr"})),
    "torch.profiler": _REFERENCE,
    "torch.utils.hooks": _REFERENCE,
    "torch.utils.tensorboard": _OUTPUT,
    "torchmetrics": Library(caches=frozenset({"._computed", "._state_is_copy"})),
    "tqdm": _OUTPUT,
    "transformers": Library(
        durations=frozenset(
            f"{stage}_{what}"
            for stage in ("train", "eval", "test")
            for what in ("runtime", "samples_per_second", "steps_per_second", "tokens_per_second")
        )
    ),
    "visdom": _OUTPUT,
    "wandb": _OUTPUT,
    "xgboost.core": Library(by_reference=True, pickles_handles=True),
}

REBOUND = frozenset().union(*(library.rebound for library in LIBRARIES.values()))
"""By name alone: a script's own class may derive from the library's."""
RENEWED = frozenset().union(*(library.renewed for library in LIBRARIES.values()))
DURATIONS = frozenset().union(*(library.durations for library in LIBRARIES.values()))
PICKLERS = frozenset(library.cloudpickle for library in LIBRARIES.values() if library.cloudpickle)
"""cloudpickle and copies of it."""


def library_of(module: str) -> Library | None:
    """What is known of the classes of a module (`torch.cuda.streams`); None where nothing is."""
    while module:
        found = LIBRARIES.get(module)
        if found is not None:
            return found
        module = module.rpartition(".")[0]
    return None
