"""What florc knows of experiment trackers. How the calls of one are heard is in the file of its name beside this one."""

from __future__ import annotations

from ..support.light import NamedTuple


class Tracker(NamedTuple):
    """Facts about one tracker."""

    said: str
    """Its name in messages."""
    modules: tuple[str, ...]
    """As soon as one of these was imported, its calls are heard."""
    package: str = ""
    """What has to be installed to send to it; nothing where florc writes its files itself."""
    where: str = ""
    """What `--to NAME=` takes."""
    of: str = "run"
    """By what its runs differ: the entry of `found` in a journal's `tracked`."""


_OF_MLFLOW = ("client", "fluent", "_tracking_service.utils", "_tracking_service.client", "_model_registry.utils")
TRACKERS = {
    "tb": Tracker(
        "TensorBoard",
        (
            "tensorboard.summary.writer.event_file_writer",
            "tensorboardX.event_file_writer",
            "torch.utils.tensorboard.writer",
            "tensorboardX.writer",
        ),
        where="FOLDER",
        of="folder",
    ),
    "csv": Tracker(
        "CSVLogger", ("lightning.fabric.loggers.csv_logs", "lightning_fabric.loggers.csv_logs"), where="FILE.csv", of="folder"
    ),
    "mlflow": Tracker("MLflow", tuple(f"mlflow.tracking.{of}" for of in _OF_MLFLOW), "mlflow", "RUN"),
    "wandb": Tracker(
        "Weights & Biases",
        tuple(f"wandb.sdk.wandb_{name}" for name in ("init", "run", "login", "summary", "config")),
        "wandb",
        "PROJECT/RUN",
    ),
    "trackio": Tracker("Trackio", ("trackio", "trackio.remote_client"), "trackio", "PROJECT/RUN"),
    "aim": Tracker("Aim", ("aim.sdk.base_run", "aim.sdk.repo", "aim.sdk.run"), "aim", "RUN"),
}


_LIGHTNINGS = ("lightning.pytorch", "pytorch_lightning")
_CONNECTOR = "trainer.connectors.logger_connector.logger_connector"
HEARD = {
    "visdom": ("visdom",),
    "lightning": tuple(f"{library}.{of}" for library in _LIGHTNINGS for of in ("core.module", _CONNECTOR)),
}
"""What is heard, too, with the modules as in `Tracker`: a tracker that gets nothing from florc, and a library whose own calls
lead to trackers."""


class Switch(NamedTuple):
    """How a tracker whose calls are not heard is switched off: by a variable, before it is imported."""

    said: str
    variable: str
    value: str


SWITCHES = {
    "clearml": Switch("ClearML", "CLEARML_OFFLINE_MODE", "1"),
    "comet_ml": Switch("Comet", "COMET_AUTO_LOG_DISABLE", "1"),
    "neptune": Switch("Neptune", "NEPTUNE_MODE", "debug"),
}
"""By package. Tried with comet_ml 3.x, clearml 2.x and neptune 1.x, offline."""

EVENT_FILE = "tfevents"
"""TensorBoard reads every file with this in its name."""
EXACT, UNVERIFIED = "hindsight/", "hindsight-unverified/"
"""What the names of values begin with there, by the verdict."""
