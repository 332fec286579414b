"""Modules, scalers, datasets, state dicts, and comparing two states."""

import copy
import math

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
from florc.state import CannotRestore, Unsupported, by_reference, differences, encode, leaf_bytes  # noqa: E402
from program import Program  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, Dataset, TensorDataset  # noqa: E402


def test_submodules_replaced(freeze):
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    net[1] = nn.BatchNorm1d(2)
    held = net[0]
    before = freeze({"net": net})
    del held
    live = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(1, 1))
    first = live[0]
    before.restore({"net": live})
    assert len(live) == 2 and live[0] is first and isinstance(live[1], nn.BatchNorm1d)
    assert live(torch.randn(3, 2)).shape == (3, 2)


def test_learning_rates_handed_out_earlier_stay(freeze):
    a = Program()
    before = freeze(a.places())
    a.epoch(), a.epoch()
    history = [a.scheduler.get_last_lr()]
    before.restore(a.places())
    assert history == [[0.005]] and a.scheduler.get_last_lr() == [0.01]


def test_hooks_stay(freeze):
    net, calls = nn.Linear(2, 2), []
    handle = net.register_forward_hook(lambda *a: calls.append(1))
    before = freeze({"net": net})
    before.restore({"net": net})
    net(torch.ones(1, 2))
    assert calls == [1]
    for change in (handle.remove, lambda: net.weight.register_hook(print)):
        change()
        with pytest.raises(CannotRestore, match="other hooks here"):
            before.restore({"net": net})


def test_averaged_model_and_scaler(freeze):
    net = nn.Linear(2, 2)
    swa = torch.optim.swa_utils.AveragedModel(net)
    scaler = torch.amp.GradScaler("cpu")
    places = {"net": net, "swa": swa, "scaler": scaler}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    before_first = freeze(places)
    scaler.scale(net(torch.ones(1, 2)).sum()).backward()
    scaler.step(optimizer)
    with pytest.raises(Unsupported) as caught:
        freeze(places)
    assert caught.value.place_path == "scaler"
    scaler.update()
    swa.update_parameters(net)
    before = freeze(places)
    scaler.update(3.0)
    swa.update_parameters(net)
    before.restore(places)
    assert freeze(places) == before and swa.n_averaged == 1 and scaler.get_scale() == 65536.0
    before_first.restore(places)
    assert freeze(places) == before_first and scaler._scale is None


class Noisy(Dataset):
    def __init__(self):
        self.images = torch.randn(50, 3)
        self.table = list(range(5000))
        self.rng = np.random.default_rng(1)
        self.epoch = 0
        self.names = ["a", "b"]
        self.file = open("/dev/null")

    def __len__(self):
        return 50

    def __getitem__(self, i):
        return self.images[i] + self.rng.normal()


def test_datasets_are_data(freeze):
    data = Noisy()
    loader = DataLoader(data, batch_size=10, shuffle=True, generator=torch.Generator())
    before = freeze({"loader": loader, "seen": data.table})
    assert sum(map(len, before.leaves)) < 60_000
    first = [b.tolist() for b in loader]
    data.epoch, data.names[0] = 4, "z"
    data.images += 1
    live = data.images.clone()
    before.restore({"loader": loader, "seen": data.table})
    assert torch.equal(data.images, live) and data.epoch == 0 and data.names == ["a", "b"]
    data.images -= 1
    again = [torch.tensor(b) for b in first]
    assert all(torch.allclose(a, b) for a, b in zip(again, loader))


def test_loader_iterators(freeze):
    loader = DataLoader(TensorDataset(torch.arange(4)))
    iterator = iter(loader)
    with pytest.raises(Unsupported) as caught:
        freeze({"it": iterator})
    assert caught.value.place_path == "it"

    class Prefetcher:
        def __init__(self):
            self.iterator, self.count = iterator, 1

    live = Prefetcher()
    before = freeze({"p": live})
    live.count = 3
    before.restore({"p": live})
    assert live.count == 1 and live.iterator is iterator


def test_differences_name_place_and_tensor():
    a = Program()
    one = encode({"net": a.net, "epoch_loss": 0.5, "optimizer": a.optimizer, "same": [1]})
    hashes = [leaf_bytes(leaf) for leaf in one.leaves]
    assert differences(one.graph, hashes, one.graph, hashes) == []
    with torch.no_grad():
        a.net.out.bias[0] += 1
    a.net.history.append(0.5)
    two = encode({"net": a.net, "epoch_loss": 0.25, "optimizer": a.optimizer, "same": [1], "new": 1})
    found = [str(d) for d in differences(one.graph, hashes, two.graph, [leaf_bytes(leaf) for leaf in two.leaves])]
    assert sorted(found) == [
        "epoch_loss: 0.5 -> 0.25",
        "net.history: list of 0 -> list of 1",
        "net.out.bias: float32[11] differs",
        "new: only in the second",
    ]
    a.epoch()
    three = encode({"net": a.net, "epoch_loss": math.nan, "optimizer": a.optimizer, "same": [1]})
    text = "\n".join(str(d) for d in differences(one.graph, hashes, three.graph, [leaf_bytes(x) for x in three.leaves]))
    assert "epoch_loss: 0.5 -> nan" in text and "optimizer.state: defaultdict of 0 -> defaultdict of 8" in text
    assert "$random.torch: state differs" in text


def test_a_state_dict_keeps_its_metadata_and_its_sharing(round_trip):
    net = nn.BatchNorm1d(2)
    state = net.state_dict()
    out = round_trip(
        {"net": net, "state": state, "copy": copy.deepcopy(state)},
        {"net": nn.BatchNorm1d(2), "state": nn.BatchNorm1d(2).state_dict()},
    )
    assert out["state"]._metadata == state._metadata
    with torch.no_grad():
        out["net"].weight += 1
    assert out["state"]["weight"].tolist() == [2, 2] and out["copy"]["weight"].tolist() == [1, 1]


def test_under_inference_mode_and_a_default_device(freeze):
    net = nn.Linear(2, 2)
    before = freeze({"net": net, "x": torch.ones(2), "g": torch.Generator()})
    torch.set_default_device("meta")
    try:
        with torch.inference_mode():
            out = before.restore({})
    finally:
        torch.set_default_device(None)
    assert not out["x"].is_inference() and out["x"].device.type == "cpu"
    out["net"](out["x"]).sum().backward()
    assert torch.equal(out["net"].weight, net.weight)


def test_compiled_modules_keep_their_compiled_code(freeze):
    net = torch.compile(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    weight = net._orig_mod[0].weight
    before = freeze({"net": net, "optimizer": optimizer})
    with torch.no_grad():
        weight += 1
    before.restore({"net": net, "optimizer": optimizer})
    assert freeze({"net": net, "optimizer": optimizer}) == before and net._orig_mod[0].weight is weight


def test_script_modules_are_unsupported(freeze):
    with pytest.raises(Unsupported) as caught:
        freeze({"nets": [torch.jit.script(nn.Linear(2, 2))]})
    assert caught.value.place_path == "nets[0]"


def test_what_was_taken_by_reference_is_listed(freeze):
    a = Program(scheduler="lambda")
    found = dict(by_reference(freeze(a.places()).graph))
    assert found["scheduler.lr_lambdas[0]"] == "function"


def test_warnings_filters_are_not_touched(freeze):
    import warnings

    before = freeze({"t": torch.ones(3)})
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        version = warnings._filters_version if hasattr(warnings, "_filters_version") else None
        before.restore({"t": torch.zeros(3)})
        assert version == (warnings._filters_version if hasattr(warnings, "_filters_version") else None)
    assert not seen
