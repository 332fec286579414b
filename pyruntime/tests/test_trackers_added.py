"""What added statements give to trackers beside metrics: artifacts, summaries, Lightning's `self.log`. It is sent, or told of."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from test_tracker_packages import LOOP, LOSS, is_exact, leveldb, metrics, need, norms
from test_tracker_packages import at_home as at_home
from test_trackers import HEAD, files, recorded, replayed, scalars
from workshop import Workshop

MLFLOW = (
    'import mlflow\nmlflow.set_tracking_uri("sqlite:///mlflow.db")\nrun = mlflow.start_run()\nmlflow.log_text("own", "own.txt")\n'
    + HEAD
    + LOOP.format(log=f"mlflow.log_metric('loss', {LOSS}, step=epoch)")
    + "mlflow.end_run()\n"
)


def below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_mlflow_gets_added_artifacts_below_a_folder_of_their_own(workshop: Workshop) -> None:
    need("mlflow")
    recorded(workshop, MLFLOW)
    before = metrics(workshop.path / "mlflow.db")
    artifacts = workshop.path / "mlruns" / "0" / before[0][0] / "artifacts"
    assert below(artifacts) == {"own.txt": b"own"}
    (workshop.path / "folder" / "in").mkdir(parents=True)
    (workshop.path / "folder" / "in" / "a.bin").write_bytes(bytes(range(256)))
    statement = (
        "mlflow.log_text(f'epoch {epoch}', f'texts/{epoch}.txt'); mlflow.log_dict({'sum': sum(model.weights)}, 'last.json'); "
        "mlflow.log_artifact('folder/in/a.bin', 'more'); mlflow.log_artifacts('folder')"
    )
    done = replayed(workshop, MLFLOW, statement)
    is_exact(done, "hindsight/last.json")
    found = below(artifacts)
    assert json.loads(found.pop("hindsight/last.json"))["sum"] > 0
    assert found == {
        "own.txt": b"own",
        "hindsight/more/a.bin": bytes(range(256)),
        "hindsight/in/a.bin": bytes(range(256)),
        **{f"hindsight/texts/{epoch}.txt": f"epoch {epoch}".encode() for epoch in range(4)},
    }
    assert metrics(workshop.path / "mlflow.db") == before
    times = {path: path.stat().st_mtime_ns for path in artifacts.rglob("*")}
    assert "sent 0 values" in replayed(workshop, MLFLOW, statement).said
    assert {path: path.stat().st_mtime_ns for path in artifacts.rglob("*")} == times


def test_mlflow_says_which_calls_are_not_sent_where_no_other_value_is(workshop: Workshop) -> None:
    need("mlflow")
    recorded(workshop, MLFLOW)
    before = files(workshop.path)
    statement = (
        "mlflow.log_param('p', 1); mlflow.set_tag('t', 'x'); mlflow.log_params({'q': 2}); open('big', 'wb').write(bytes(17 << 20)); "
        "mlflow.log_artifact('big')"
    )
    done = replayed(workshop, MLFLOW, statement)
    assert done.code == 0 and "exact: " in done.said, done.err + done.said
    for what in ("MlflowClient.log_param", "MlflowClient.set_tag", "MLflow's parameters and tags", "larger than 16 MiB (big)"):
        assert f"{what} [F511]" in done.said, done.said
    after = files(workshop.path)
    after.pop("big", None)
    assert after == before


def summaries(folder: Path) -> dict[str, Any]:
    """What an offline run of wandb says in its summary."""
    from wandb.proto import wandb_internal_pb2 as proto

    (path,) = folder.glob("*.wandb")
    found: dict[str, Any] = {}
    for record in leveldb(path.read_bytes()[7:], 7):
        parsed = proto.Record()
        parsed.ParseFromString(record)
        if parsed.WhichOneof("record_type") == "summary":
            found.update({item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in parsed.summary.update})
    return found


def test_wandb_gets_an_added_summary_in_the_run_beside(workshop: Workshop) -> None:
    need("wandb")
    text = 'import wandb\nrun = wandb.init(project="p", dir=".", config={"lr": 0.1})\n' + HEAD
    text += LOOP.format(log=f"wandb.log({{'loss': {LOSS}}}, step=epoch); run.summary['own'] = epoch") + "wandb.finish()\n"
    before = recorded(workshop, text)
    statement = (
        "run.summary['norm'] = sum(w * w for w in model.weights); wandb.summary.update({'last': epoch, 'said': 'x'}); "
        "run.config['more'] = 1; run.log_artifact('train.py'); run.log_artifact(wandb.Artifact('a', 'b'))"
    )
    done = replayed(workshop, text, statement)
    is_exact(done, "hindsight/norm, hindsight/last")
    for what in ("wandb's summary of said, which is no number", "wandb's config", "wandb's log_artifact"):
        assert f"florc does not send {what} [F511]" in done.said, done.said
    (beside,) = (workshop.path / "wandb").glob("*-hindsight")
    found = summaries(beside)
    assert {name: value for name, value in found.items() if name.startswith("hindsight/") and name != "hindsight/step"} == {
        "hindsight/norm": norms(workshop)[-1],
        "hindsight/last": 3.0,
    }
    after = files(workshop.path)
    assert {name: data for name, data in after.items() if name in before} == before
    assert "sent 0 values" in replayed(workshop, text, statement).said
    replayed(workshop, text, "wandb.log({'norm': 1.0}, step=epoch); run.summary['norm'] = 2.0")
    (beside,) = (workshop.path / "wandb").glob("*-hindsight")
    assert summaries(beside)["hindsight/norm"] == 2.0 and summaries(beside)["hindsight/last"] == 3.0


LIGHTNING = """
import logging, warnings
warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import torch
import lightning
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

torch.manual_seed(0)

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.log("loss", loss)
        # here
        return loss

    def validation_step(self, batch, index, dataloader_idx=0):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.log("val", loss)
        # there

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)

x = torch.randn(100, 8)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
quiet = dict(enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False, accelerator="cpu")
trainer = lightning.Trainer(max_epochs=3, logger=[CSVLogger("logs"), TensorBoardLogger("tb")], log_every_n_steps=3, **quiet)
module = Module()
trainer.fit(module, data, [data, data])
print(module.net.weight.sum().item(), sorted(trainer.callback_metrics))
"""


def rows(path: Path) -> dict[str, list[tuple[int, float]]]:
    """Steps and values by column, as `CSVLogger` and florc write them."""
    found: dict[str, list[tuple[int, float]]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            for name, value in row.items():
                if value and name not in ("step", "epoch"):
                    found.setdefault(name, []).append((int(row["step"]), float(value)))
    return found


def test_what_an_added_self_log_gives_is_what_lightning_makes_of_it(workshop: Workshop) -> None:
    need("lightning")
    need("tensorboard")
    text = LIGHTNING
    before = recorded(workshop, text)
    train = "self.log('norm', self.net.weight.norm(), on_epoch=True); self.log_dict({'twice': loss * 2, 'n': 1.0}, prog_bar=True)"
    added = text.replace("# there", "self.log('thrice', 3 * loss); self.log('off', loss, logger=False)")
    done = replayed(workshop, added, train)
    is_exact(done, "to CSVLogger, logs/lightning_logs/version_0: hindsight/norm_step")
    after = files(workshop.path)
    assert {name: data for name, data in after.items() if name in before} == before
    plain = Workshop(workshop.path / ".plain")
    plain.path.mkdir()
    plain.write("train.py", added.replace("# here", train))
    assert plain.plain("train.py").code == 0
    folder = Path("lightning_logs") / "version_0"
    truth = rows(plain.path / "logs" / folder / "metrics.csv")
    own = rows(workshop.path / "logs" / folder / "metrics.csv")
    names = {"norm_step", "norm_epoch", "twice", "n", "thrice/dataloader_idx_0", "thrice/dataloader_idx_1"}
    assert truth.keys() - own.keys() == names and all(truth[name] == own[name] for name in own)
    sent = rows(workshop.path / "logs" / folder / "hindsight.csv")
    assert sent == {f"hindsight/{name}": truth[name] for name in names}
    shown, there = scalars(workshop.path / "tb" / folder), scalars(plain.path / "tb" / folder)
    assert {name: shown[f"hindsight/{name}"] for name in names} == {name: there[name] for name in names}
    assert "sent 0 values" in replayed(workshop, added, train).said
    part = replayed(workshop, added, train, "--iterations", "1:2")
    assert "Traceback" not in part.err and part.code in (0, 1), part.err + part.said
    assert files(workshop.path).keys() == after.keys()


def test_a_metric_in_an_added_self_log_is_told_of(workshop: Workshop) -> None:
    need("lightning")
    text = LIGHTNING.replace("import lightning\n", "import lightning, torchmetrics\n")
    before = recorded(workshop, text)
    done = replayed(workshop, text, "self.log('mean', torchmetrics.MeanMetric())")
    assert "florc does not send Lightning's self.log of mean, which is a Metric [F511]" in done.said, done.err + done.said
    assert "exact: " in done.said and files(workshop.path) == before
