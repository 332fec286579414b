"""Every common way into a training: the same function, called by a library, by its name, from a table. Each gains what a plain call does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from harness import Trial

TRAINING = """
import random


class Model:
    def __init__(self):
        self.weights = [0.0] * 200

    def step(self, batch):
        self.weights = [weight + batch * random.random() for weight in self.weights]


def train_one(model, epoch):
    total = 0.0
    for batch in range(20):
        model.step(batch)
        total += model.weights[0]
    return total


def fit(epochs=3):
    random.seed(0)
    model = Model()
    for epoch in range(epochs):
        total = train_one(model, epoch)
        print("epoch", epoch, total)
+        print("PROBE", epoch, sum(model.weights), total)
    return None


"""
WAYS = {
    "argparse": (
        """
        import argparse
        parser = argparse.ArgumentParser()
        commands = parser.add_subparsers()
        command = commands.add_parser("train")
        command.add_argument("--epochs", type=int)
        command.set_defaults(func=lambda args: fit(args.epochs))
        args = parser.parse_args()
        args.func(args)
        """,
        ["train", "--epochs", "4"],
    ),
    "table": ('import sys\n{"train": fit, "other": print}[sys.argv[1]](int(sys.argv[2]))', ["train", "4"]),
    "registry": (
        """
        COMMANDS = {}
        def command(function):
            COMMANDS[function.__name__] = function
            return function
        @command
        def train():
            fit(4)
        @command
        def test():
            pass
        COMMANDS["train"]()
        """,
        [],
    ),
    "getattr": (
        """
        class Runner:
            def train(self):
                fit(4)
        getattr(Runner(), "tr" + "ain")()
        """,
        [],
    ),
    "partial": ("import functools\nfunctools.partial(fit, epochs=4)()", []),
    "exec": ('exec("fit(4)")', []),
    "asyncio": ("import asyncio\nasync def main():\n    fit(4)\nasyncio.run(main())", []),
    "decorated": (
        """
        import contextlib, functools
        @contextlib.contextmanager
        def timer():
            yield
        def timed(function):
            @functools.wraps(function)
            def inner(*args, **options):
                with timer():
                    return function(*args, **options)
            return inner
        timed(fit)(4)
        """,
        [],
    ),
    "hooks": (
        """
        class Callback:
            def on_start(self):
                pass
            def on_run(self):
                fit(4)
        class Engine:
            def __init__(self):
                self.callbacks = [Callback()]
            def emit(self, name):
                for callback in self.callbacks:
                    getattr(callback, "on_" + name)()
        engine = Engine()
        engine.emit("start")
        engine.emit("run")
        """,
        [],
    ),
    "unittest": (
        """
        import os, unittest
        class Test(unittest.TestCase):
            def test_fit(self):
                fit(4)
        unittest.main(testRunner=unittest.TextTestRunner(stream=open(os.devnull, "w")))
        """,
        [],
    ),
    "fire": ("import fire\nfire.Fire(fit)", ["--epochs=4"]),
    "fire class": (
        """
        import fire
        class Commands:
            def train(self, epochs=3):
                fit(epochs)
        fire.Fire(Commands)
        """,
        ["train", "--epochs=4"],
    ),
    "click": (
        """
        import click
        @click.command()
        @click.option("--epochs", default=3)
        def main(epochs):
            fit(epochs)
        main()
        """,
        ["--epochs", "4"],
    ),
    "click group": (
        """
        import click
        @click.group()
        def main():
            pass
        @main.command()
        @click.option("--epochs", default=3)
        def train(epochs):
            fit(epochs)
        main()
        """,
        ["train", "--epochs", "4"],
    ),
    "typer": ("import typer\ndef main(epochs: int = 3):\n    fit(epochs)\ntyper.run(main)", ["--epochs", "4"]),
    "jsonargparse": ("from jsonargparse import CLI\nCLI(fit, as_positional=False)", ["--epochs", "4"]),
    "absl": (
        """
        from absl import app, flags
        flags.DEFINE_integer("epochs", 3, "how many")
        def main(arguments):
            fit(flags.FLAGS.epochs)
        app.run(main)
        """,
        ["--epochs=4"],
    ),
    "hydra": (
        """
        import hydra
        @hydra.main(version_base=None, config_path=None)
        def main(config):
            fit(config.epochs)
        main()
        """,
        [
            "+epochs=4",
            "hydra.run.dir=.",
            "hydra.output_subdir=null",
            "hydra/job_logging=disabled",
            "hydra/hydra_logging=disabled",
        ],
    ),
    "hydra multirun": (
        """
        import hydra
        @hydra.main(version_base=None, config_path=None)
        def main(config):
            fit(config.epochs)
        main()
        """,
        [
            "--multirun",
            "+epochs=2,3",
            "hydra.sweep.dir=.",
            "hydra.output_subdir=null",
            "hydra/job_logging=disabled",
            "hydra/hydra_logging=disabled",
        ],
    ),
    "sacred": (
        """
        from sacred import Experiment
        experiment = Experiment("demo", save_git_info=False)
        @experiment.config
        def config():
            epochs = 3
        @experiment.automain
        def main(epochs):
            fit(epochs)
        """,
        ["with", "epochs=4", "--loglevel=ERROR"],
    ),
    "sacred capture": (
        """
        from sacred import Experiment
        from sacred.observers import FileStorageObserver
        experiment = Experiment("demo", save_git_info=False)
        experiment.add_config(epochs=4)
        @experiment.capture
        def training(epochs, _run):
            fit(epochs)
            _run.log_scalar("epochs", epochs)
        @experiment.main
        def main():
            training()
        experiment.run()
        """,
        [],
    ),
    "runpy": (
        """
        import runpy
        from pathlib import Path
        runpy.run_path(str(Path(__file__).with_name("inner.py")), {"fit": fit}, "__main__")
        === inner.py
        fit(4)
        """,
        [],
    ),
    "pytest": (
        """
        import sys
        def test_fit():
            fit(4)
            try:
                assert [1, 2] == [1, 3]
            except AssertionError as error:  # pytest changed the assertion: it says more than Python does
                print(str(error).splitlines()[0])
        if __name__ == "__main__":
            import pytest
            sys.exit(pytest.main(["-qq", "-s", "-p", "no:cacheprovider", "train.py::test_fit"]))
        """,
        [],
    ),
    "optuna": (
        """
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        def objective(trial):
            fit(trial.suggest_int("epochs", 2, 2))
            return 0.0
        optuna.create_study().optimize(objective, n_trials=2)
        """,
        [],
    ),
}
PACKAGES = ("fire", "click", "typer", "jsonargparse", "absl", "hydra", "sacred", "optuna")


@pytest.mark.parametrize("way", WAYS)
def test_a_way_in_gains_what_a_plain_call_does(way: str, tmp_path: Path) -> None:
    package = way.split()[0]
    if package in PACKAGES and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: make test-trainers")
    text, arguments = WAYS[way]
    lines = text.strip("\n").rstrip().splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    outcome = Trial(tmp_path, TRAINING + "\n".join(line[indent:] for line in lines), arguments).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    assert outcome.expected and "exact: " in outcome.replayed.said and outcome.restored, told
