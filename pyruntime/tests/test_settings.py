"""Settings of the process: each is seen when it changes, and reading all of them changes none."""

from __future__ import annotations

import contextvars
import decimal
import gc
import locale
import logging
import os
import signal
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from florc.survey import settings

VARIABLE = contextvars.ContextVar("VARIABLE", default=0)


@contextmanager
def put(holder: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(holder, name)
    setattr(holder, name, value)
    yield
    setattr(holder, name, before)


@contextmanager
def called(change: Callable[..., Any], value: Any, before: Any) -> Iterator[None]:
    change(value)
    yield
    change(before)


@contextmanager
def in_folder(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    yield
    os.chdir(before)


@contextmanager
def in_zone(zone: str) -> Iterator[None]:
    with put_variable("TZ", zone):
        time.tzset()
        yield
    time.tzset()


@contextmanager
def put_variable(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    yield
    del os.environ[name]


@contextmanager
def context_variable() -> Iterator[None]:
    token = VARIABLE.set(1)
    yield
    VARIABLE.reset(token)


@contextmanager
def flags_of_decimal() -> Iterator[None]:
    decimal.getcontext().clear_flags()
    with decimal.localcontext() as context:
        context.clear_flags()
        decimal.setcontext(context)
        decimal.Decimal(1) / 3
        yield


@contextmanager
def one_more(held: list[Any], item: Any) -> Iterator[None]:
    held.append(item)
    yield
    held.pop()


def changes() -> dict[str, tuple[Callable[[], Any], str]]:
    import csv
    import faulthandler
    import socket

    numpy, torch = pytest.importorskip("numpy"), pytest.importorskip("torch")
    import multiprocessing

    printing = torch._tensor_str.PRINT_OPTS
    return {
        "folder": (lambda: in_folder("/"), "the current folder"),
        "variable": (lambda: put_variable("FLORC_TEST_SETTING", "1"), "os.environ"),
        "locale": (lambda: called(lambda to: locale.setlocale(locale.LC_NUMERIC, to), "C.UTF-8", "C"), "the locale"),
        "zone": (lambda: in_zone("Asia/Tokyo"), "os.environ"),
        "recursion": (lambda: called(sys.setrecursionlimit, 4321, sys.getrecursionlimit()), "the recursion limit"),
        "switch": (lambda: called(sys.setswitchinterval, 0.01, sys.getswitchinterval()), "the switch interval"),
        "path": (lambda: one_more(sys.path, "/nowhere"), "sys.path"),
        "argv": (lambda: one_more(sys.argv, "more"), "sys.argv"),
        "excepthook": (lambda: put(sys, "excepthook", print), "a hook or a stream of sys"),
        "profile": (lambda: called(sys.setprofile, lambda *_: None, sys.getprofile()), "the trace function"),
        "collector": (lambda: called(lambda on: (gc.disable, gc.enable)[on](), False, True), "the garbage collector"),
        "threshold": (lambda: called(lambda to: gc.set_threshold(*to), (999, 9, 9), gc.get_threshold()), "the garbage collector"),
        "warnings": (
            lambda: (
                warnings.catch_warnings(action="error")
                if sys.version_info >= (3, 11)
                else one_more(warnings.filters, ("error", None, Warning, None, 0))
            ),
            "warnings.filters",
        ),
        "signal": (
            lambda: called(lambda to: signal.signal(signal.SIGUSR1, to), signal.SIG_IGN, signal.SIG_DFL),
            "the handler of a signal",
        ),
        "context": (context_variable, "a context variable"),
        "csv": (lambda: called(csv.field_size_limit, 1000, csv.field_size_limit()), "the dialects of csv"),
        "precision": (lambda: put(decimal.getcontext(), "prec", 5), "the decimal context"),
        "flags": (flags_of_decimal, "the decimal context"),
        "faults": (
            lambda: called(
                lambda on: (faulthandler.disable, faulthandler.enable)[on](),
                not faulthandler.is_enabled(),
                faulthandler.is_enabled(),
            ),
            "faulthandler",
        ),
        "logging": (lambda: called(logging.disable, logging.ERROR, logging.NOTSET), "what logging does"),
        "start": (
            lambda: called(lambda to: multiprocessing.set_start_method(to, force=True), "spawn", None),
            "how processes are started",
        ),
        "seterr": (lambda: numpy.errstate(over="raise"), "numpy.seterr"),
        "printing": (lambda: numpy.printoptions(precision=3), "numpy.set_printoptions"),
        "sockets": (lambda: called(socket.setdefaulttimeout, 5.0, None), "the time limit of sockets"),
        "threads": (lambda: put(threading, "excepthook", print), "a setting of threading"),
        "dtype": (lambda: called(torch.set_default_dtype, torch.float64, torch.float32), "a setting of torch"),
        "gradients": (torch.no_grad, "a setting of torch"),
        "inference": (torch.inference_mode, "a setting of torch"),
        "cores": (lambda: called(torch.set_num_threads, 3, torch.get_num_threads()), "a setting of torch"),
        "deterministic": (lambda: called(torch.use_deterministic_algorithms, True, False), "a setting of torch"),
        "device": (lambda: called(torch.set_default_device, "meta", None), "a setting of torch"),
        "hook": (lambda: handle(torch.nn.modules.module.register_module_forward_hook), "hooks of all modules of torch"),
        "tensors": (lambda: put(printing, "precision", 9), "torch.set_printoptions"),
        "memory": (lambda: called(lambda on: (tracemalloc.stop, tracemalloc.start)[on](), True, False), "tracemalloc"),
    }


@contextmanager
def handle(register: Callable[..., Any]) -> Iterator[None]:
    registered = register(lambda *_: None)
    yield
    registered.remove()


@pytest.fixture(autouse=True)
def all_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_open", {*settings._OF_PYTHON, *settings._OF_MODULES})


def _differ(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {name for name in after if name in before and after[name] != before[name]}


def test_each_is_seen() -> None:
    wrong = {}
    settings.now()
    for name, (change, said) in changes().items():
        before = settings.now()
        with change():
            during = _differ(before, settings.now())
        if said not in during or said in _differ(before, settings.now()):
            wrong[name] = (said, during, _differ(before, settings.now()))
    assert not wrong


def test_what_libraries_change_is_read_where_a_file_mentions_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_open", {*settings._OF_PYTHON, *settings._OF_MODULES} - settings._MENTIONED.keys())
    assert not settings._MENTIONED.keys() & settings.now().keys()
    settings.mention("import warnings, sys")
    assert {"warnings.filters", "sys.path"} < settings.now().keys() and "os.environ" not in settings.now()


def test_all_that_are_read_are_tried() -> None:
    tried = {said for _, said in changes().values()}
    assert {*settings._OF_PYTHON, *settings._OF_MODULES} - tried == {"the time zone"}  # which comes with a variable


def test_reading_changes_none() -> None:
    first = settings.now()
    assert all(settings.changed(first, settings.now()) is None for _ in range(3))


def test_reading_makes_no_decimal_context() -> None:
    def look() -> bool:
        settings.now()
        return any(variable.name == "decimal_context" for variable in contextvars.copy_context())

    assert not contextvars.Context().run(look)
