"""Tensors: dtypes, layouts, flags, history, shared memory."""

import sys

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from florc.state import CannotRestore, Unsupported, leaf_bytes  # noqa: E402

DTYPES = [
    getattr(torch, name)
    for name in (
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "complex64",
        "complex128",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "bool",
        "float8_e4m3fn",
        "float8_e5m2",
        "uint16",
        "uint32",
        "uint64",
    )
    if hasattr(torch, name)
]


def bits(t):
    return t.detach().contiguous().reshape(-1).view(torch.uint8).tolist() if t.numel() else []


def filled(dtype, *shape):
    """Random bits, NaN payloads included."""
    count = dtype.itemsize
    for size in shape:
        count *= size
    raw = torch.randint(0, 2 if dtype is torch.bool else 256, (count,), dtype=torch.uint8)
    return raw.view(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)], ids=str)
def test_dtypes(round_trip, freeze, dtype, shape):
    value = filled(dtype, *shape)
    live = {"t": torch.zeros(shape, dtype=dtype)}
    held = live["t"]
    out = round_trip({"t": value}, {"t": torch.zeros(5)}, live)
    assert out["t"].dtype == dtype and out["t"].shape == shape and bits(out["t"]) == bits(value)
    assert bits(held) == bits(value)


LAYOUTS = {
    "transposed": lambda x: x.t(),
    "channels last": lambda x: x.reshape(1, 2, 3, 4).contiguous(memory_format=torch.channels_last),
    "step": lambda x: x.reshape(-1)[::3],
    "window": lambda x: x[1:3, 1:3],
    "expanded": lambda x: x[:, :1].expand(4, 5),
    "unfolded": lambda x: x.reshape(-1).unfold(0, 4, 1),
    "one of one": lambda x: x.reshape(24)[:1].expand(3, 1),
    "conjugate": lambda x: torch.complex(x, x * 2).conj(),
    "negative": lambda x: torch.complex(x, x * 2).conj().imag,
    "odd ones": lambda x: torch.empty_strided((1, 4), (7, 1)).copy_(x[0, :4]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(round_trip, name):
    value = LAYOUTS[name](torch.randn(4, 6))
    out = round_trip({"t": value}, {"t": torch.randn(4, 6)}, {"t": LAYOUTS[name](torch.randn(4, 6))})
    assert torch.equal(out["t"], value) and out["t"].stride() == value.resolve_conj().resolve_neg().stride()


def test_dense_cpu_memory_is_not_copied():
    from florc.state import encode

    value = torch.randn(8, 3)
    turned = torch.randn(5, 7).t()
    array = np.arange(12.0).reshape(3, 4)
    encoded = encode({"a": value, "b": turned, "c": array})
    assert [leaf.address for leaf in list(encoded.leaves)[:3]] == [value.data_ptr(), turned.data_ptr(), array.ctypes.data]
    assert leaf_bytes(encoded.leaves[0]) == value.numpy().tobytes()


def test_parameters_flags_and_attributes(round_trip):
    p = torch.nn.Parameter(torch.randn(3), requires_grad=False)
    p.tag = [1]
    q = torch.randn(2, requires_grad=True)
    live = {"p": torch.nn.Parameter(torch.zeros(3)), "q": torch.zeros(2), "b": torch.nn.Buffer(torch.zeros(2))}
    out = round_trip({"p": p, "q": q, "b": torch.nn.Buffer(torch.ones(2))}, live)
    assert not out["p"].requires_grad and out["q"].requires_grad and out["p"].tag == [1]


def test_parameter_of_another_shape_keeps_its_identity(freeze):
    live = torch.nn.Parameter(torch.zeros(2))
    before = freeze({"p": torch.nn.Parameter(torch.ones(3, 3, dtype=torch.float64))})
    assert before.restore({"p": live})["p"] is live
    assert live.shape == (3, 3) and live.dtype == torch.float64 and live.sum() == 9


def test_meta(round_trip):
    assert round_trip({"t": torch.empty(3, 4, device="meta")})["t"].is_meta


def test_gradients_only_when_asked(freeze):
    p = torch.nn.Parameter(torch.ones(2))
    (p * 3).sum().backward()
    without, withs = freeze({"p": p, "l": [p]}), freeze({"p": p}, gradients=True)
    grad = p.grad
    grad.fill_(7)
    without.restore({"p": p})
    assert p.grad is grad and grad[0] == 7
    withs.restore({"p": p})
    assert p.grad is grad and grad[0] == 3
    fresh = withs.restore({})["p"]
    assert fresh.grad[0] == 3
    p.grad = None
    none = freeze({"p": p}, gradients=True)
    none.restore({"p": fresh})
    assert fresh.grad is None
    withs.restore({"p": p})
    assert p.grad[1] == 3


def test_results_print_the_same_and_say_why_they_have_no_history(round_trip):
    x = torch.randn(4, 3, requires_grad=True)
    loss = torch.nn.functional.nll_loss(torch.log_softmax(x, 1), torch.tensor([0, 1, 2, 0]))
    half = x[0] * 2
    out = round_trip({"loss": loss, "half": half, "view": x[1]}, {"loss": torch.zeros(()), "half": x * 2})
    for name, value in (("loss", loss), ("half", half), ("view", x[1])):
        assert repr(out[name]) == repr(value)
        assert out[name].requires_grad and not out[name].is_leaf
    assert "NllLossBackward0" in repr(out["loss"])
    with pytest.raises(RuntimeError, match="restored by florc: its autograd history is not in the checkpoint"):
        out["loss"].backward()
    assert out["loss"].item() == loss.item() and out["loss"].detach().grad_fn is None


def test_results_do_not_overwrite_what_the_name_held(freeze):
    x = torch.ones(1, requires_grad=True)
    before = freeze({"loss": (x * 2).sum()})
    old = (x * 5).sum()
    assert before.restore({"loss": old})["loss"].item() == 2 and old.item() == 5


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2, requires_grad=True).to_sparse(),
        lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
        lambda: torch.nn.parameter.UninitializedParameter(),
        lambda: torch.ones(2).as_subclass(type("Mine", (torch.Tensor,), {})),
    ],
)
def test_unsupported_tensors_name_their_path(freeze, make):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    model[0].odd = {"k": [0, make()]}
    with pytest.raises(Unsupported) as caught:
        freeze({"x": 1, "net": model})
    assert caught.value.place_path == "net.0.odd['k'][1]"


def test_views_share_again(round_trip):
    big = torch.arange(12.0).reshape(3, 4)
    places = {"big": big, "row": big[1], "flat": big.view(-1)[3:9:2], "same": big.detach(), "other": torch.ones(2)}
    other = torch.zeros(3, 4)
    for live in (
        {},
        {"big": other, "row": other[1]},
        {"big": torch.zeros(3, 4), "row": torch.zeros(4)},
        {"row": other[2], "big": other},
        {"big": other, "row": other[1], "flat": other.view(-1)[3:9:2], "same": other.detach(), "other": torch.zeros(2)},
    ):
        out = round_trip(places, live, nothing=False)
        out["big"][1, 0] = 100
        assert out["row"][0] == 100 and out["same"][1, 0] == 100 and out["other"].sum() == 2
        out["flat"][0] = -1
        assert out["big"][0, 3] == -1
        out["big"].copy_(big)


def test_identity_survives_shared_memory(freeze):
    big = torch.arange(4.0)
    before = freeze({"big": big, "part": big[1:3]})
    live = torch.zeros(4)
    out = before.restore({"big": live})
    assert out["big"] is live and out["part"].data_ptr() == live.data_ptr() + 4 and out["part"].tolist() == [1, 2]


def test_live_sharing_that_was_not_recorded_is_undone(round_trip):
    live = torch.nn.Parameter(torch.zeros(4))
    other = torch.nn.Parameter(live.data)
    out = round_trip(
        {"a": torch.nn.Parameter(torch.ones(4)), "b": torch.nn.Parameter(torch.ones(4) * 2)},
        {"a": live, "b": other},
        nothing=False,
    )
    assert out["a"] is live and out["b"] is other and live.tolist() == [1] * 4 and other.tolist() == [2] * 4


def test_array_and_tensor_over_the_same_memory(round_trip):
    array = np.arange(6.0)
    out = round_trip({"a": array, "t": torch.from_numpy(array), "v": array[2:4]}, {"a": np.zeros(6)})
    out["a"][2] = 50
    assert out["t"][2] == 50 and out["v"][0] == 50


def test_cannot_restore_leaves_tensors_untouched(freeze):
    t = torch.ones(3)
    before = freeze({"t": t, "a": np.ones(2), "f": [lambda: 1]})
    t.zero_()
    array = np.zeros(2)
    state = torch.get_rng_state()
    torch.rand(1)
    state = torch.get_rng_state()
    with pytest.raises(CannotRestore) as caught:
        before.restore({"t": t, "a": array, "f": []})
    assert caught.value.place_path == "f[0]"
    before.leaves[0] = before.leaves[0][:-1]
    with pytest.raises(CannotRestore):
        before.restore({"t": t, "a": array, "f": [test_layouts]})
    assert t.sum() == 0 and array.sum() == 0 and torch.equal(torch.get_rng_state(), state)


def test_damaged_graph(freeze):
    before = freeze({"t": torch.ones(3)})
    before.graph = before.graph.replace(b'"float32",[3]', b'"float32",[4]')
    with pytest.raises(CannotRestore):
        before.restore({"t": torch.zeros(3)})


def test_pickled_values_need_trust(freeze):
    sklearn = pytest.importorskip("sklearn.tree")
    tree = sklearn.DecisionTreeClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    before = freeze({"tree": tree})
    assert before.restore({})["tree"].predict([[2.0]]).tolist() == [1]
    with pytest.raises(CannotRestore, match="not trusted"):
        before.restore({}, trust_pickle=False)


def test_importing_the_codec_imports_neither_torch_nor_numpy():
    import subprocess

    code = (
        "import sys, florc.state as s; e = s.encode({'a': [1]}); s.restore(e.graph, None, {}) if not e.leaves else 0;"
        "print('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_cuda_generators_and_tensors(round_trip, freeze):
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    t = torch.randn(4, 5, device="cuda").t()
    net = torch.nn.Linear(3, 2).cuda()
    out = round_trip({"t": t, "net": net, "v": [t[1]]}, {"t": torch.zeros(5, 4, device="cuda")})
    assert torch.equal(out["t"], t) and out["t"].device == t.device
    before = freeze({"x": 1})
    expected = torch.rand(3, device="cuda").tolist()
    before.restore({"x": 1})
    assert torch.rand(3, device="cuda").tolist() == expected
