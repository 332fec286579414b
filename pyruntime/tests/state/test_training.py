"""Models, optimizers, schedulers: training goes on bit for bit after restoring into a rebuilt program."""

import collections
import copy
import math
import random

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, Dataset, TensorDataset  # noqa: E402

from florc.state import Unsupported, encode, owners_of  # noqa: E402


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.norm = nn.BatchNorm1d(8)
        self.rnn = nn.GRU(8, 8, batch_first=True)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(8, 11)
        self.out.weight = self.embed.weight
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.history = []

    def forward(self, x):
        self.seen += 1
        h = self.norm(self.embed(x).transpose(1, 2)).transpose(1, 2)
        h, _ = self.rnn(h)
        self.history.append(float(h.detach().mean()))
        return self.out(self.drop(h))


class EMA:
    def __init__(self, model, decay=0.9):
        self.model, self.decay = model, decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self):
        for name, p in self.model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * p.detach()


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "plain sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "lbfgs": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=3),
}
SCHEDULERS = {
    "step": lambda o: torch.optim.lr_scheduler.StepLR(o, 2, 0.5),
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 10),
    "onecycle": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=50, cycle_momentum=False),
    "lambda": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda e: 0.9**e),
    "sequential": lambda o: torch.optim.lr_scheduler.SequentialLR(o, [
        torch.optim.lr_scheduler.LinearLR(o), torch.optim.lr_scheduler.ExponentialLR(o, 0.9)], [3]),
}


class Program:
    """What a script would have at module level."""

    def __init__(self, optimizer="adam", scheduler="step", seed=0):
        torch.manual_seed(seed), np.random.seed(seed), random.seed(seed)
        self.net = Net()
        self.optimizer = OPTIMIZERS[optimizer](self.net.parameters())
        self.scheduler = SCHEDULERS[scheduler](self.optimizer)
        self.ema = EMA(self.net)
        self.data = TensorDataset(torch.arange(60).reshape(12, 5) % 11)
        self.loader = DataLoader(self.data, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(seed))
        self.replay = collections.deque(maxlen=5)
        self.losses = []

    def epoch(self):
        for (x,) in self.loader:
            def closure():
                self.optimizer.zero_grad()
                loss = nn.functional.cross_entropy(self.net(x).flatten(0, 1), x.flatten())
                loss.backward()
                return loss
            loss = self.optimizer.step(closure)
            self.ema.update()
            self.losses.append(loss.item() + 0 * random.random() + 0 * np.random.rand())
            self.replay.append((x.clone(), loss.detach()))
        self.scheduler.step()

    def places(self):
        return {"net": self.net, "optimizer": self.optimizer, "scheduler": self.scheduler, "ema": self.ema,
                "loader": self.loader, "replay": self.replay, "losses": self.losses}

    def fingerprint(self):
        tensors = [*self.net.state_dict().values(), *self.ema.shadow.values(), *(t for pair in self.replay for t in pair)]
        return ([t.numpy().tobytes() for t in tensors], [x.hex() for x in self.losses], list(map(float.hex, self.net.history)),
                random.random(), np.random.rand(), torch.rand(1).item(), self.scheduler.get_last_lr())


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_goes_on_bit_for_bit(freeze, optimizer):
    continues(freeze, optimizer, "step")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_schedulers(freeze, scheduler):
    continues(freeze, "adam", scheduler)


def continues(freeze, optimizer, scheduler):
    a = Program(optimizer, scheduler)
    a.epoch(), a.epoch()
    before = freeze(a.places())
    a.epoch(), a.epoch()
    expected = a.fingerprint()
    fresh, trained = Program(optimizer, scheduler, seed=5), Program(optimizer, scheduler, seed=7)
    trained.epoch()
    for b in (fresh, trained, a):
        live = b.places()
        out = before.restore(live)
        assert all(out[name] is live[name] for name in live)
        assert freeze(b.places()) == before
        assert b.net.out.weight is b.net.embed.weight
        assert b.optimizer.param_groups[0]["params"][0] is b.net.embed.weight
        b.epoch(), b.epoch()
        assert b.fingerprint() == expected


def test_back_to_before_the_first_step(freeze):
    a = Program()
    before = freeze(a.places())
    a.epoch()
    expected = a.fingerprint()
    before.restore(a.places())
    assert not a.optimizer.state and not a.net.history
    a.epoch()
    assert a.fingerprint() == expected


def test_new_model_and_optimizer_without_live_ones(freeze):
    a = Program(scheduler="cosine")
    a.epoch()
    places = {"net": a.net, "optimizer": a.optimizer, "ema": a.ema}
    places["optimizer"].__dict__.pop("step", None)
    before = freeze(places)
    out = before.restore({})
    assert freeze(out) == before
    x = torch.arange(20).reshape(4, 5) % 11

    def train(net, optimizer):
        torch.manual_seed(3)
        for _ in range(3):
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
        return [p.detach().numpy().tobytes() for p in net.parameters()]

    assert train(out["net"], out["optimizer"]) == train(a.net, a.optimizer)
    assert out["ema"].model is out["net"]


def test_an_optimizer_brings_its_model(freeze):
    a = Program()
    a.epoch()
    before = freeze({"optimizer": a.optimizer})
    state = copy.deepcopy(a.net.state_dict())
    assert owners_of(a.optimizer) == [a.net]
    a.epoch()
    before.restore({"optimizer": a.optimizer})
    assert all(torch.equal(state[name], value) for name, value in a.net.state_dict().items())
    b = Program(seed=3)
    before.restore({"optimizer": b.optimizer})
    assert all(torch.equal(state[name], value) for name, value in b.net.state_dict().items())


def test_owner_is_the_outermost_module(freeze):
    outer = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2))
    optimizer = torch.optim.SGD(outer[1].parameters(), lr=0.1)
    assert owners_of(optimizer) == [outer]
    before = freeze({"optimizer": optimizer, "head": outer[1]})
    outer(torch.randn(4, 2))
    before.restore({"optimizer": optimizer, "head": outer[1]})
    assert outer[0].num_batches_tracked == 0
    assert [name for name, *_ in before.document["owners"]] == ["$owner:0"]


def test_frozen_flags_and_mode(freeze):
    net = Net().eval()
    net.out.bias.requires_grad_(False)
    before = freeze({"net": net})
    other = Net()
    before.restore({"net": other})
    assert not other.training and not other.norm.training and not other.out.bias.requires_grad


def test_submodules_replaced(freeze):
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    net[1] = nn.BatchNorm1d(2)
    before = freeze({"net": net})
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
    before = freeze({"net": net})
    net.register_forward_hook(lambda *a: calls.append(1))
    before.restore({"net": net})
    net(torch.ones(1, 2))
    assert calls == [1]


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
    from florc.state import differences, leaf_bytes
    a = Program()
    one = encode({"net": a.net, "epoch_loss": 0.5, "optimizer": a.optimizer, "same": [1]})
    hashes = [leaf_bytes(leaf) for leaf in one.leaves]
    assert differences(one.graph, hashes, one.graph, hashes) == []
    with torch.no_grad():
        a.net.out.bias[0] += 1
    a.net.history.append(0.5)
    two = encode({"net": a.net, "epoch_loss": 0.25, "optimizer": a.optimizer, "same": [1], "new": 1})
    found = [str(d) for d in differences(one.graph, hashes, two.graph, [leaf_bytes(leaf) for leaf in two.leaves])]
    assert sorted(found) == ["epoch_loss: 0.5 -> 0.25", "net.history: list of 0 -> list of 1",
                             "net.out.bias: float32[11] differs", "new: only in the second"]
    a.epoch()
    three = encode({"net": a.net, "epoch_loss": math.nan, "optimizer": a.optimizer, "same": [1]})
    text = "\n".join(str(d) for d in differences(one.graph, hashes, three.graph, [leaf_bytes(x) for x in three.leaves]))
    assert "epoch_loss: 0.5 -> nan" in text and "optimizer.state: defaultdict of 0 -> defaultdict of 8" in text
    assert "$random.torch: state differs" in text


def test_a_state_dict_keeps_its_metadata_and_its_sharing(round_trip):
    net = nn.BatchNorm1d(2)
    state = net.state_dict()
    out = round_trip({"net": net, "state": state, "copy": copy.deepcopy(state)},
                     {"net": nn.BatchNorm1d(2), "state": nn.BatchNorm1d(2).state_dict()})
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
    before = freeze({"net": net, "optimizer": optimizer})
    weight = net._orig_mod[0].weight
    with torch.no_grad():
        weight += 1
    before.restore({"net": net, "optimizer": optimizer})
    assert freeze({"net": net, "optimizer": optimizer}) == before and net._orig_mod[0].weight is weight


def test_script_modules_are_unsupported(freeze):
    with pytest.raises(Unsupported) as caught:
        freeze({"nets": [torch.jit.script(nn.Linear(2, 2))]})
    assert caught.value.place_path == "nets[0]"


def test_what_was_taken_by_reference_is_listed(freeze):
    from florc.state import by_reference
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
