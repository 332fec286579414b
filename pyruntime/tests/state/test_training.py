"""Training goes on bit for bit after restoring into a rebuilt program; an optimizer brings its model."""

import copy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")
from florc.state import CannotRestore, owners_of  # noqa: E402
from program import OPTIMIZERS, SCHEDULERS, Net, Program  # noqa: E402
from torch import nn  # noqa: E402


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


def test_owner_that_is_not_the_recorded_one(freeze):
    program = Program()
    before = freeze({"optimizer": program.optimizer})
    other = nn.Sequential(Net())
    optimizer = OPTIMIZERS["adam"](other[0].parameters())
    SCHEDULERS["step"](optimizer)
    weight = other[0].out.weight.clone()
    with pytest.raises(CannotRestore) as caught:
        before.restore({"optimizer": optimizer})
    assert caught.value.place_path == "$owner:0" and torch.equal(weight, other[0].out.weight)


def test_frozen_flags_and_mode(freeze):
    net = Net().eval()
    net.out.bias.requires_grad_(False)
    before = freeze({"net": net})
    other = Net()
    before.restore({"net": other})
    assert not other.training and not other.norm.training and not other.out.bias.requires_grad
