"""What florc knows of libraries agrees with those that are installed."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from florc.adapters import libraries, torch_data, torch_optim, tqdm
from florc.adapters.libraries import LIBRARIES, Library, library_of
from florc.state import differences, encode, tracked
from florc.state.kinds import Refused


def test_the_longest_name_decides() -> None:
    assert library_of("torch.cuda.streams") is LIBRARIES["torch.cuda"]
    assert library_of("torch.cuda.amp.grad_scaler") == Library()
    assert library_of("torch.cudart") is None and library_of("") is None and library_of("__main__") is None


@pytest.mark.parametrize("name", sorted(name for name in LIBRARIES if name.startswith("torch.")))
def test_parts_of_torch_are_where_the_table_has_them(name: str) -> None:
    pytest.importorskip("torch")
    if name == "torch.utils.tensorboard":
        pytest.importorskip("tensorboard")
    pytest.importorskip(name)


def test_schedulers_make_their_list_anew() -> None:
    torch = pytest.importorskip("torch")
    scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.zeros(1)], lr=1.0), 1)
    (name,) = libraries.REBOUND
    before = getattr(scheduler, name)
    scheduler.optimizer.step()
    scheduler.step()
    assert getattr(scheduler, name) is not before


def test_scalers_and_loaders_of_torch_are_known() -> None:
    torch = pytest.importorskip("torch")
    assert all(map(torch_optim.is_grad_scaler, (torch.amp.GradScaler, torch.cuda.amp.GradScaler)))
    assert not torch_optim.is_grad_scaler(torch.optim.SGD)
    loader = torch.utils.data.DataLoader([1, 2, 3])
    iterator = iter(loader)
    assert torch_data.is_loader(loader) and torch_data.is_iterator_class(type(iterator)) and torch_data.loads_here(iterator)
    torch_data.leave_out(iterator)
    assert next(iterator).item() == 2
    assert torch_data.why_not_wound(loader) is None and torch_data.why_not_wound(iterator) is None


def test_when_a_bar_was_drawn_is_no_difference() -> None:
    library = pytest.importorskip("tqdm")
    one, two, three = (library.tqdm(range(9), file=open("/dev/null", "w")) for _ in range(3))
    for bar in (one, two):
        bar.update(3)
    two.last_print_n += 1
    states = [encode({"bar": bar}) for bar in (one, two, three)]
    first, second, third = ((state.graph, [bytes(leaf) for leaf in state.leaves]) for state in states)
    assert all(map(tqdm.is_bar, (one, two, three))) and list(tqdm.unwrapped(one)) == list(range(9))
    assert not list(differences(*first, *second))
    assert [str(found) for found in differences(*first, *third)]


def test_callbacks_in_a_thread_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        tracked._wait_for([executor.submit(time.sleep, 0.05)])
        monkeypatch.setattr(tracked, "_MOST_S", 0.05)
        running = executor.submit(held.wait, 30)
        with pytest.raises(Refused, match="still running"):
            tracked._wait_for([running])
        held.set()
        running.result(30)
        tracked._wait_for([running])
