"""Arrays, scalars, and generators of numpy and torch."""

import random

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


ARRAYS = {
    "c": lambda: np.random.rand(3, 4),
    "f": lambda: np.asfortranarray(np.random.rand(3, 4)),
    "step": lambda: np.arange(20)[::3],
    "reversed": lambda: np.arange(20)[::-1],
    "transposed": lambda: np.random.rand(2, 3, 4).transpose(1, 0, 2),
    "broadcast": lambda: np.broadcast_to(np.arange(3), (4, 3)),
    "empty": lambda: np.zeros((0, 3), np.int8),
    "0-d": lambda: np.array(1.5),
    "bool": lambda: np.array([True, False]),
    "text": lambda: np.array(["a", "béta"]),
    "bytes": lambda: np.array([b"a", b"bb"]),
    "dates": lambda: np.array(["2020-01-01", "NaT"], "datetime64[D]"),
    "complex": lambda: np.array([1 + 2j], np.complex64),
    "half": lambda: np.array([1, np.nan, -0.0], np.float16),
    "big endian": lambda: np.array([1, 2], ">i4"),
    "records": lambda: np.array([(1, 2.5, [1, 2])], [("a", "i4"), ("b", "f8"), ("c", "u1", (2,))]),
    "read only": lambda: np.frombuffer(b"abcd", np.uint8),
    "objects": lambda: np.array([None, [1], "x", {"a": 2}], object),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(round_trip, name):
    value = ARRAYS[name]()
    other = np.zeros_like(value) if value.dtype.kind not in "O" else np.array([0, 0, 0, 0], object)
    out = round_trip({"a": value}, {"a": other}, {"a": np.zeros(3)}, {"a": value.copy()})
    assert out["a"].dtype == value.dtype and out["a"].shape == value.shape
    assert out["a"].tobytes() == value.tobytes() or name == "objects"
    assert out["a"].flags.writeable == value.flags.writeable


def test_array_in_place(freeze):
    live = np.arange(4.0)
    view = live[1:]
    before = freeze({"a": live})
    live[:] = 0
    assert before.restore({"a": live})["a"] is live and view.tolist() == [1, 2, 3]


SCALARS = [
    np.float64(-0.0),
    np.float32(np.nan),
    np.int64(5),
    np.bool_(True),
    np.uint8(3),
    np.str_("é"),
    np.bytes_(b"x"),
    np.datetime64("2020-01-01"),
    np.timedelta64(3, "s"),
    np.complex64(1j),
    np.dtype("f4"),
    np.dtype([("a", "i4")]),
    np.float16(1.5),
    torch.float32,
    torch.device("cpu"),
    torch.Size([1, 2]),
    torch.channels_last,
    torch.strided,
    np.longdouble(0.1),
    np.array([(1, 2)], [("a", "i4"), ("b", "i4")])[0],
]


@pytest.mark.parametrize("value", SCALARS, ids=lambda v: f"{type(v).__name__}")
def test_scalars_and_dtypes(round_trip, value):
    out = round_trip({"v": value, "l": [value], "t": (value,)}, {"v": 0, "l": [value]}, {"v": value})["v"]
    assert type(out) is type(value)
    assert out.tobytes() == value.tobytes() if isinstance(value, np.generic) else out == value


GENERATORS = {
    "torch": (lambda: torch.Generator().manual_seed(3), lambda g: torch.rand(3, generator=g).tolist()),
    "PCG64": (lambda: np.random.default_rng(3), lambda g: g.normal(size=3).tolist()),
    "MT19937": (lambda: np.random.Generator(np.random.MT19937(3)), lambda g: g.normal(size=3).tolist()),
    "Philox": (lambda: np.random.Generator(np.random.Philox(3)), lambda g: g.integers(100, size=3).tolist()),
    "SFC64": (lambda: np.random.Generator(np.random.SFC64(3)), lambda g: g.random(3).tolist()),
    "bits": (lambda: np.random.PCG64(3), lambda g: g.random_raw(3).tolist()),
    "RandomState": (lambda: np.random.RandomState(3), lambda g: g.normal(size=3).tolist()),
    "python": (lambda: random.Random(3), lambda g: [g.gauss(0, 1) for _ in range(3)]),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_generator_objects(round_trip, freeze, name):
    make, draw = GENERATORS[name]
    own = make()
    draw(own)
    before = freeze({"g": own, "h": [own]})
    expected = draw(own)
    other = make()
    out = before.restore({"g": other})
    assert out["g"] is other is out["h"][0] and draw(other) == expected
    assert draw(before.restore({})["g"]) == expected


def test_numpy_generators_over_one_bit_generator(freeze):
    bits_ = np.random.PCG64(1)
    a, b = np.random.Generator(bits_), np.random.Generator(bits_)
    out = freeze({"a": a, "b": b}).restore({})
    assert out["a"].bit_generator is out["b"].bit_generator


def test_global_generators(freeze):
    np.random.normal()
    before = freeze({"x": 1})
    draw = lambda: (torch.rand(2).tolist(), np.random.normal(size=3).tolist(), random.random())
    expected = draw()
    before.restore({"x": 2})
    assert draw() == expected


def test_library_functions_by_name(round_trip):
    functions = [
        torch.relu,
        torch.nn.functional.relu,
        torch.nn.functional.gelu,
        torch.add,
        torch.Tensor.add_,
        np.add,
        np.mean,
        torch.nn.Linear.forward,
        torch.linalg.norm,
        torch.sigmoid,
        torch.optim.Adam,
    ]
    out = round_trip({"f": functions}, {"f": []})["f"]
    assert all(a is b for a, b in zip(out, functions))
