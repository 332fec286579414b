"""Kinds of tensors and arrays that are rare in a training: right, or refused with a reason."""

from __future__ import annotations

import os

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from florc.state import CannotRestore, Unsupported, differences, encode, leaf_bytes  # noqa: E402
from test_tensors import filled  # noqa: E402


def coo(coalesced: bool = True, dtype=torch.float32):
    indices = torch.tensor([[2, 0, 0], [1, 3, 3]])
    value = torch.sparse_coo_tensor(indices, torch.arange(1, 4).to(dtype), (4, 5), check_invariants=False)
    return value.coalesce() if coalesced else value


def dense(rows: int = 4, columns: int = 6):
    value = torch.zeros(rows, columns)
    value[0, 1], value[2, 2], value[3, 5] = 1.0, float("nan"), -0.0
    value[1, 0] = 4.0
    return value


SPARSE = {
    "coo": coo,
    "coo, not coalesced": lambda: coo(False),
    "coo, half": lambda: coo(dtype=torch.bfloat16),
    "coo, complex": lambda: coo(dtype=torch.complex64),
    "coo, hybrid": lambda: torch.randn(3, 4, 2).to_sparse(1),
    "coo, empty": lambda: torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.long), torch.zeros(0), (3, 4)).coalesce(),
    "coo, no element": lambda: torch.zeros(0, 3).to_sparse(),
    "csr": lambda: dense().to_sparse_csr(),
    "csc": lambda: dense().to_sparse_csc(),
    "bsr": lambda: dense().to_sparse_bsr((2, 3)),
    "bsc": lambda: dense().to_sparse_bsc((2, 3)),
    "csr, batch": lambda: torch.stack([dense(), dense()]).to_sparse_csr(),
    "csr, 32 bits": lambda: torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([1, 0], dtype=torch.int32), torch.ones(2), (2, 2)
    ),
}
pytestmark = pytest.mark.filterwarnings("ignore:Sparse")


def parts(t):
    from florc.state.sparse import PARTS

    return [getattr(t.detach(), name)() for name in PARTS[str(t.layout)[6:]]]


def raw(t):
    return t.contiguous().reshape(-1).view(torch.uint8).tolist() if t.numel() else []


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_tensors(round_trip, freeze, name):
    value, live, other = SPARSE[name](), SPARSE[name](), torch.eye(7).to_sparse()
    for part in parts(live)[-1:]:
        part.zero_()
    before = freeze({"t": value})
    assert before.restore({"t": live})["t"] is live
    new = round_trip({"t": value}, {"t": live}, {"t": other}, {"t": torch.zeros(2)})["t"]
    for out in (live, new):
        assert (out.layout, out.shape, out.dtype) == (value.layout, value.shape, value.dtype)
        assert [raw(part) for part in parts(out)] == [raw(part) for part in parts(value)]
        if value.layout is torch.sparse_coo:
            assert out.is_coalesced() == value.is_coalesced()


def test_sparse_parameters_and_flags(round_trip):
    out = round_trip(
        {"p": torch.nn.Parameter(coo()), "q": coo().requires_grad_(), "f": torch.nn.Parameter(coo(), False)},
        {"p": torch.nn.Parameter(coo(), False), "q": coo()},
    )
    assert type(out["p"]) is torch.nn.Parameter and out["p"].requires_grad
    assert out["q"].requires_grad and not out["f"].requires_grad


def test_sparse_tensors_share_again(round_trip):
    value = coo()
    places = {"s": value, "v": value._values(), "i": value._indices()}
    live = coo()
    for lives in (
        {},
        {"s": live, "v": live._values(), "i": live._indices()},
        {"s": live},
        {"v": torch.zeros(3)},
        {"s": coo(), "v": torch.zeros(3)},
    ):
        out = round_trip(places, lives, nothing=False)
        out["v"][0] = 50
        assert out["s"]._values()[0] == 50
        out["v"][0] = value._values()[0]


def test_sparse_tensors_that_share_only_now_are_parted(round_trip):
    live = coo()
    shared = live._values()
    out = round_trip({"s": coo(), "x": torch.full((2,), 7.0)}, {"s": live, "x": shared}, nothing=False)
    assert out["s"] is live and live._values().tolist() == coo()._values().tolist() and out["x"].tolist() == [7, 7]


def test_what_differs_between_sparse_tensors():
    changed = coo()
    changed._values().mul_(2)
    one, two, three = (encode({"s": value}) for value in (coo(), changed, coo(False)))

    def said(a, b):
        hashes = [[leaf_bytes(leaf) for leaf in encoded.leaves] for encoded in (a, b)]
        return [str(d) for d in differences(a.graph, hashes[0], b.graph, hashes[1])]

    assert said(one, one) == [] and said(one, two) == ["s.values(): float32[2] differs"]
    assert said(one, three)[0] == "s: sparse_coo[4, 5]: layout, flags or history differ"


@pytest.mark.parametrize(
    "make, reason",
    [
        (lambda: torch.randn(3, 3, requires_grad=True).to_sparse(), "history"),
        (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged), "class NestedTensor"),
        (lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8), "quantized"),
        (lambda: torch.ones(2).as_subclass(type("Mine", (torch.Tensor,), {})), "class Mine"),
    ],
)
@pytest.mark.filterwarnings("ignore:torch.quantize", "ignore:The PyTorch API of nested")
def test_refused_with_a_reason(make, reason):
    with pytest.raises(Unsupported, match=reason):
        encode({"t": [make()]})


@pytest.fixture
def mesh(tmp_path):
    """A mesh of this process alone."""
    dist = pytest.importorskip("torch.distributed")
    if not dist.is_available() or dist.is_initialized():
        pytest.skip("needs a process group of its own")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    try:
        dist.init_process_group("gloo", store=dist.FileStore(str(tmp_path / "group"), 1), rank=0, world_size=1)
    except RuntimeError as error:
        pytest.skip(f"no process group here: {error}")
    try:
        from torch.distributed.device_mesh import init_device_mesh

        yield init_device_mesh("cpu", (1,))
    finally:
        dist.destroy_process_group()


def test_a_dtensor_is_filled_in_place_or_made_as_another_one_is(mesh, freeze):
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

    def one(number, how):
        return torch.nn.Parameter(distribute_tensor(torch.arange(6.0) + number, mesh, [how]))

    weight = one(0, Shard(0))
    weight.grad = distribute_tensor(torch.ones(6), mesh, [Shard(0)])
    mean = distribute_tensor(torch.arange(6.0) * 2, mesh, [Shard(0)])
    kept = freeze({"weight": weight, "mean": mean}, gradients=True)

    live = one(10, Shard(0))
    part = live.to_local().data_ptr()
    found = kept.restore({"weight": live, "mean": None})
    assert found["weight"] is live and live.to_local().data_ptr() == part
    assert torch.equal(live.full_tensor(), torch.arange(6.0)) and torch.equal(live.grad.full_tensor(), torch.ones(6))
    assert isinstance(found["mean"], DTensor) and torch.equal(found["mean"].full_tensor(), torch.arange(6.0) * 2)

    for other in ({"weight": one(10, Replicate()), "mean": mean}, {}):
        with pytest.raises(CannotRestore, match="distributed"):
            kept.restore(other)
    mean.note = "an attribute"
    with pytest.raises(Unsupported, match="attributes"):
        encode({"mean": mean})
    with pytest.raises(Unsupported, match="history"):
        encode({"mean": weight * 2})


FLOATS = [
    getattr(torch, name) for name in ("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "complex32") if hasattr(torch, name)
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rare_dtypes(round_trip, dtype):
    value = filled(dtype, 2, 3)
    out = round_trip({"t": value, "same": value, "row": value[1]}, {"t": torch.zeros(2, 3, dtype=dtype)})
    assert raw(out["t"]) == raw(value) and out["same"] is out["t"] and out["row"].data_ptr() == out["t"][1].data_ptr()


VIEWS = {
    "overlapping": lambda x: x.as_strided((3, 4), (2, 1)),
    "overlapping, moved": lambda x: x.as_strided((3, 4), (2, 1), 5),
    "expanded": lambda x: x[:1].expand(5, 1),
    "channels last": lambda x: x.reshape(1, 2, 3, 4).to(memory_format=torch.channels_last),
    "channels last, 3d": lambda x: x.reshape(1, 2, 1, 3, 4).to(memory_format=torch.channels_last_3d),
    "0-d": lambda x: x[7],
    "zero-size": lambda x: x[:0],
    "transposed": lambda x: x.reshape(4, 6).t(),
    "conjugate": lambda x: torch.view_as_complex(x.reshape(12, 2)).conj(),
    "negative": lambda x: torch.view_as_complex(x.reshape(12, 2)).conj().imag,
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_keep_their_memory(round_trip, name):
    base = torch.arange(24.0)
    value = VIEWS[name](base)
    other = torch.zeros(24)
    out = round_trip({"base": base, "view": value}, {"base": other, "view": VIEWS[name](other)}, {"base": torch.zeros(24)})
    assert torch.equal(out["view"], value) and torch.equal(out["base"], base)
    moved = "conjugate" in name or "negative" in name or "channels" in name
    if value.numel() and not moved:
        offset = value.data_ptr() - base.data_ptr()
        assert out["view"].data_ptr() - out["base"].data_ptr() == offset


def test_meta_tensors_of_many_kinds(round_trip):
    out = round_trip(
        {"m": torch.empty(3, 4, device="meta", dtype=torch.bfloat16).t(), "p": torch.nn.Parameter(torch.empty(2, device="meta"))}
    )
    assert out["m"].stride() == (1, 4) and out["m"].dtype == torch.bfloat16 and out["p"].is_meta


def test_tied_weights_stay_tied(round_trip):
    net = torch.nn.ModuleDict({"a": torch.nn.Linear(3, 3, bias=False), "b": torch.nn.Linear(3, 3, bias=False)})
    net["b"].weight = net["a"].weight
    net["c"] = torch.nn.Linear(3, 3, bias=False)
    net["c"].weight = torch.nn.Parameter(net["a"].weight.data)
    fresh = torch.nn.ModuleDict({name: torch.nn.Linear(3, 3, bias=False) for name in "abc"})
    out = round_trip({"net": net}, {"net": fresh}, nothing=False)["net"]
    assert out is fresh and out["a"].weight is out["b"].weight
    assert out["c"].weight is not out["a"].weight and out["c"].weight.data_ptr() == out["a"].weight.data_ptr()


NUMBERS = [
    "?",
    "i1",
    "u1",
    ">i2",
    "u2",
    "i4",
    "u4",
    "i8",
    "u8",
    "f2",
    "f4",
    ">f8",
    "f8",
    "g",
    "F",
    "D",
    "G",
    "S3",
    "U3",
    "V5",
    "datetime64[ns]",
    "timedelta64[s]",
    [("a", "i4"), ("b", [("c", "f2", (2,)), ("d", "S2")])],
    {"names": ["a", "b"], "formats": ["i1", "f8"], "offsets": [0, 8], "itemsize": 24},
    np.dtype([("a", "i1"), ("b", "f8")], align=True),
]
ORDERS = {
    "C": lambda a: a,
    "F": lambda a: np.asfortranarray(a),
    "reversed": lambda a: a[::-1],
    "both": lambda a: a[::-1, ::-2],
    "transposed": lambda a: a.T,
    "step": lambda a: a[:, ::2],
    "row": lambda a: a[1],
    "0-d": lambda a: a[1, 2:3].reshape(()),
    "zero-size": lambda a: a[:0],
    "broadcast": lambda a: np.broadcast_to(a[0], (3, 4)),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda d: str(d)[:20])
def test_arrays_of_every_dtype(round_trip, dtype, order):
    dtype = np.dtype(dtype)
    base = np.frombuffer(bytes(i % 2 for i in range(12 * dtype.itemsize)), dtype).reshape(3, 4).copy()
    value = ORDERS[order](base)
    other = np.zeros_like(base)
    out = round_trip({"a": value}, {"a": ORDERS[order](other)}, {"a": np.zeros(2)}, {"a": None})
    assert out["a"].dtype == dtype and out["a"].shape == value.shape
    # numpy copies fields, and leaves what is between them as the memory happens to be
    assert np.array_equal(out["a"], value) if dtype.names else out["a"].tobytes() == value.tobytes()
    both = round_trip({"base": base, "view": value}, {"base": other})
    if np.shares_memory(base, value):
        assert np.shares_memory(both["base"], both["view"])


def test_arrays_that_hold_objects_in_fields_are_refused():
    with pytest.raises(Unsupported, match="dtype"):
        encode({"a": np.zeros(2, [("a", object)])})


def test_damaged_sparse_nodes(freeze):
    before = freeze({"s": coo()})
    before.graph = before.graph.replace(b'"sparse_coo"', b'"sparse_csr"')
    with pytest.raises(CannotRestore):
        before.restore({})
