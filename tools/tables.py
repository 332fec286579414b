"""The tables of bench_materialize.py: medians, spreads and ratios, as Markdown."""

from __future__ import annotations

import platform
import statistics
from pathlib import Path


def head(date: str, machine: str, rounds: int) -> str:
    import torch

    return (
        f"`make bench-materialize`, {date}, {machine}, CPython {platform.python_version()}, torch {torch.__version__}; "
        f"{rounds} rounds in which every way takes its turn, medians, in ms unless said otherwise. Every way syncs its "
        "files. *stall*: how long the training stands still; *taken*: how much longer the training loop takes, stall included, "
        "when it continues and writes into the state; *first*: the stall of the first checkpoint, before memory was touched; "
        "*memory*: peak of all processes together, above the training alone, 1 thread. `× limit` compares the stall with a "
        "copy of the same bytes into touched memory, by as many cores as help. Nothing that copies can be faster.\n\n"
    )


def table(name: str, what: str, results: dict, memory: dict) -> str:
    text = f"**{name}**: {what}.\n\n"
    for threads, result in results.items():
        text += _one(threads, result, memory)
    return text + _aims(name, results)


def _one(threads: int, result: dict, memory: dict) -> str:
    alone = statistics.median(result["alone"])
    limits = {key: statistics.median(one[key] for one in result["limits"]) for key in ("copy", "copy2", "disk")}
    limit = min(limits["copy"], limits["copy2"])
    spread = (max(result["alone"]) - min(result["alone"])) * 1000
    text = (
        f"{threads} torch thread{'s' * (threads > 1)}; the loop alone {alone * 1000:.0f} ms, between rounds it varies by "
        f"{spread:.0f} ms: *taken* below that is noise.\n\n"
        "| | stall | × limit | first | taken | durable after | MB | memory, MB |\n|---|---|---|---|---|---|---|---|\n"
        f"| limit: copy, 1 core | {_ms(limits['copy'])} | {limits['copy'] / limit:.1f} | | | | | |\n"
        f"| limit: copy, 2 cores | {_ms(limits['copy2'])} | {limits['copy2'] / limit:.1f} | | | | | |\n"
        f"| limit: write + fsync | {_ms(limits['disk'])} | | | | {_ms(limits['disk'])} | | |\n"
    )
    for saver, rounds in result["found"].items():
        warm = rounds[1:]
        if not warm:
            continue
        stall, durable = _median(warm, "stall"), _median(warm, "durable")
        text += (
            f"| {saver} | {_ms(stall)} | {stall / limit:.1f} | {_ms(rounds[0]['stall'])} | "
            f"{_ms(_median(warm, 'whole') - alone)} | {_ms(durable)} | {_median(warm, 'bytes') / 1e6:.1f} | "
            f"{memory.get(saver, 0) / 1e6:.0f} |\n"
        )
    for saver, why in result["skipped"].items():
        text += f"| {saver} | not measured: {why} | | | | | | |\n"
    return text + "\n"


def _aims(name: str, results: dict) -> str:
    lines = []
    for threads, result in results.items():
        found = {saver: _median(rounds[1:], "stall") for saver, rounds in result["found"].items()}
        ours = min((stall, saver) for saver, stall in found.items() if saver.startswith("florc") and "inline" not in saver)
        peer = min((stall, saver) for saver, stall in found.items() if not saver.startswith("florc"))
        limit = statistics.median(min(one["copy"], one["copy2"]) for one in result["limits"])
        aims = [(f"{peer[0] / ours[0]:.1f} × less stall than the best peer ({peer[1]}), aim 5", peer[0] >= 5 * ours[0])]
        if name == "large":
            aims.append((f"stall {ours[0] / limit:.2f} × limit, aim 1.25", ours[0] <= 1.25 * limit))
        if name == "small":
            aims.append((f"stall {ours[0] * 1e6:.0f} µs, aim 300", ours[0] <= 300e-6))
        alone = statistics.median(result["alone"])
        taken = {saver: _median(rounds[1:], "whole") - alone for saver, rounds in result["found"].items()}
        best = min((seconds, saver) for saver, seconds in taken.items() if not saver.startswith("florc"))
        told = "; ".join(f"{text}: {'met' if met else '**not met**'}" for text, met in aims)
        lines.append(
            f"{threads} thread{'s' * (threads > 1)}: {told}; taken {_ms(taken[ours[1]])} ms, by the peer that takes "
            f"least {_ms(best[0])} ms ({best[1]})."
        )
    return " ".join(lines) + "\n\n"


def _median(rounds: list, key: str) -> float:
    return statistics.median(one[key] for one in rounds)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f}" if abs(seconds) < 0.01 else f"{seconds * 1000:.0f}"


def put(file: Path, begin: str, end: str, text: str) -> None:
    """Replace what is between the marks, or add a section at the end."""
    whole = file.read_text()
    if begin not in whole:
        whole = f"{whole.rstrip()}\n\n## What a checkpoint costs the training\n\n{begin}\n{end}\n"
    before, _, rest = whole.partition(begin)
    file.write_text(f"{before}{begin}\n{text.strip()}\n{end}{rest.partition(end)[2]}")
