"""`florc.save` writes what `torch.save` would have, as it was at the call, and never half of it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import florc
import pytest

torch = pytest.importorskip("torch")


def states() -> dict:
    """States that people save."""
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
    net.tied = net[0].weight
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.randn(4, 8)).sum().backward()
    optimizer.step()
    base = torch.arange(12.0).reshape(3, 4)
    return {
        "model": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "views": [base, base[1:], base.t(), base[:, 1]],
        "dtypes": [
            torch.zeros(3, dtype=dtype)
            for dtype in (torch.bfloat16, torch.float16, torch.complex64, torch.bool, torch.uint8, torch.float8_e4m3fn)
        ],
        "empty": torch.empty(0),
        "plain": {"epoch": 3, "names": ["é", None], "parameter": torch.nn.Parameter(torch.ones(2))},
    }


def equal(a: object, b: object) -> bool:
    if isinstance(a, torch.Tensor):
        same = a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride() and a.requires_grad == b.requires_grad
        return same and torch.equal(
            a.detach().reshape(-1).view(torch.uint8) if a.dtype.itemsize and a.dim() == 1 and a.is_contiguous() else a.detach(),
            b.detach().reshape(-1).view(torch.uint8) if b.dtype.itemsize and b.dim() == 1 and b.is_contiguous() else b.detach(),
        )
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


@pytest.mark.parametrize("name", ["model", "optimizer", "views", "dtypes", "empty", "plain"])
def test_torch_load_reads_it(name: str, tmp_path: Path) -> None:
    state = states()[name]
    path = tmp_path / "größe.pt"
    assert florc.save(state, path).result() == str(path)
    loaded = torch.load(path, weights_only=True)
    assert equal(loaded, state)
    assert zipfile.ZipFile(path).testzip() is None
    if name == "views":
        assert loaded[0].untyped_storage().data_ptr() == loaded[2].untyped_storage().data_ptr()
    mapped = torch.load(path, weights_only=True, mmap=True)
    assert equal(mapped, state)


def test_it_is_the_state_at_the_call(tmp_path: Path) -> None:
    big = torch.zeros(2_000_000)
    saved = florc.save({"big": big, "list": (grown := [1])}, tmp_path / "a.pt")
    big.fill_(7)
    grown.append(2)
    saved.result()
    loaded = torch.load(tmp_path / "a.pt")
    assert loaded["big"].eq(0).all() and loaded["list"] == [1]


def test_saves_are_done_in_order_and_flush_waits(tmp_path: Path) -> None:
    for round in range(20):
        last = florc.save({"round": round, "data": torch.full((10_000,), round)}, tmp_path / "latest.pt")
    florc.flush()
    assert last.done() and torch.load(tmp_path / "latest.pt")["round"] == 19
    assert [path.name for path in tmp_path.iterdir()] == ["latest.pt"]


def test_a_failure_names_the_file_and_leaves_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    saved = florc.save({"a": 1}, folder / "a.pt")
    with pytest.raises(OSError, match="gone"):
        saved.result()
    assert saved.done()
    florc.flush()


def test_what_cannot_be_pickled_raises_at_once(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"pickle|lambda"):
        florc.save({"f": lambda: 0}, tmp_path / "a.pt")
    assert not list(tmp_path.iterdir())


def test_a_process_that_ends_has_saved_and_one_that_was_forked_saves_too(tmp_path: Path) -> None:
    program = """
import os, sys, torch, florc
torch.set_num_threads(1)
florc.save(torch.ones(1_000_000), sys.argv[1] + "/parent.pt")
pid = os.fork()
if pid == 0:
    florc.save({"child": 1}, sys.argv[1] + "/child.pt").result()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
"""
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert torch.load(tmp_path / "parent.pt").sum() == 1_000_000 and torch.load(tmp_path / "child.pt") == {"child": 1}


def test_without_torch_it_is_a_pickle_in_the_same_archive(tmp_path: Path) -> None:
    program = "import sys, florc; florc.save([1, 'é'], sys.argv[1]).result(); assert 'torch' not in sys.modules"
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.pt")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert torch.load(tmp_path / "a.pt") == [1, "é"]
    assert os.path.getsize(tmp_path / "a.pt") < 1000
