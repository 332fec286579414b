"""What a block changes beside its places: other views of memory that is restored are no news, any other memory is."""

from __future__ import annotations

import re

import pytest
from workshop import Workshop

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from florc.survey.memory import lies_in, memory_of  # noqa: E402

FORESEEN = {
    "an array over a tensor": """
        import time, torch
        values = torch.zeros(2, 3)
        for epoch in range(4):
            for i in range(3):
                time.sleep(0.05)
                values[:, i] = epoch * i
            seen = values.reshape(-1).cpu().numpy()
            #PROBE
            print(epoch, seen.sum())
        """,
    "a tensor over a part of one": """
        import time, torch
        values = torch.zeros(6)
        for epoch in range(4):
            for i in range(6):
                time.sleep(0.03)
                values[i] = epoch * i
            seen = values.detach()[2:]
            #PROBE
            print(epoch, seen.sum().item())
        """,
}

HALF = """
    import time
    import numpy as np
    import torch
    class Kept:
        pass
    def halves(whole):
        kept = Kept()
        kept.rows = whole[4:]
        return whole[:4], kept
    def bump(rows):
        rows += 1
    half, kept = halves(MADE)
    todo = {"bump": lambda: bump(kept.rows)}
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.03)
            half[:] = half + i
            todo["bump"]()
        #PROBE
        print(epoch, half.sum().item())
    """


@pytest.mark.parametrize("name", FORESEEN)
def test_a_view_of_what_is_restored_changes_with_it(name: str, workshop: Workshop) -> None:
    workshop.write("train.py", FORESEEN[name])
    recorded = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert recorded.code == 0 and "not foresee" not in recorded.said, recorded.said
    workshop.write("train.py", FORESEEN[name].replace("#PROBE", "print('PROBE', seen.tolist())"))
    wanted = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    done = workshop.florc("replay", "train.py")
    assert (done.out.splitlines(), done.code) == (wanted, 0) and "4 blocks restored" in done.said, done.said


@pytest.mark.parametrize("made", ["np.zeros(8)", "torch.zeros(8)"])
def test_the_other_half_of_what_is_restored_is_seen_to_change(made: str, workshop: Workshop) -> None:
    text = HALF.replace("MADE", made)
    workshop.write("train.py", text)
    workshop.florc("record", "--overhead", "0.9", "train.py")
    workshop.write("train.py", text.replace("#PROBE", "print('PROBE', kept.rows.tolist())"))
    wanted = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    done = workshop.florc("replay", "train.py")
    # the overhead decides: on a busy machine one may be missing
    assert (done.out.splitlines(), done.code) == (wanted, 0) and re.search(r"[23] blocks restored", done.said), done.said


def test_memory_that_is_written_when_an_object_is_restored() -> None:
    tensor = torch.zeros(4, 6)
    whole = memory_of([tensor])
    views = [tensor[1], tensor.t(), tensor[:, 0], tensor.numpy(), tensor.numpy()[::-1, ::2], torch.from_numpy(tensor.numpy()[2:])]
    assert all(lies_in(view, whole) for view in views)
    assert not lies_in(torch.zeros(4, 6), whole) and not lies_in(np.zeros(2), whole) and not lies_in([tensor], whole)
    assert lies_in(tensor[1].numpy(), memory_of([tensor[:2]])) and not lies_in(tensor[2], memory_of([tensor[:2]]))
    assert not lies_in(tensor[1:3], memory_of([tensor[:2]]))
    assert not lies_in(tensor[1], memory_of([tensor[:, 0]])), "what is between its elements is not written"
    array = np.zeros((4, 6))
    assert lies_in(torch.from_numpy(array)[1:], memory_of([array.T])) and lies_in(array[:, 1], memory_of([array]))
    assert not lies_in(array[1], memory_of([array[:, ::2]])) and not lies_in(array[:0], memory_of([array]))


def test_what_is_restored_with_new_memory_has_no_views() -> None:
    computed = torch.zeros(3, requires_grad=True) * 2
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    assert memory_of([computed, fixed, torch.zeros(0), torch.zeros(3, device="meta"), "text"]) == []
    assert not lies_in(computed.detach(), memory_of([computed])) and not lies_in(fixed[:1], memory_of([fixed]))


def test_what_was_seen_is_told_with_its_place(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        import time
        def made():
            def call(key, seen=[]):
                seen.append(key)
                return key
            return call
        hooks, w = [made()], 0.0
        for epoch in range(3):
            for step in range(20):
                w += hooks[0](step)
                time.sleep(0.003)
            print("epoch", epoch, w)
    """,
    )
    recorded = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert re.search(
        r"it changes .*__defaults__\[0\]\[\d+\] \(now \d+\), which its plan does not foresee \(train\.py:\d+;", recorded.said
    ), recorded.said


OTHER = """
    total = 0
    items = []
    class Box:
        n = 0
    def call(v):
        global total
        total += v
        items.append(v)
        Box.n += 1
    """
CHANGED = {
    "a list": ("log = []\ncall = log.append", "log"),
    "attributes of a class": (
        "class Seen:\n    steps = []\n    count = 0\n    def __call__(self, v):\n        Seen.steps.append(v)\n"
        "        Seen.count += 1\ncall = Seen()",
        "(Seen.steps, Seen.count)",
    ),
    "an attribute of a function": (
        "def call(v):\n    call.calls = getattr(call, 'calls', 0) + v",
        "getattr(call, 'calls', None)",
    ),
    "another module": ("import other\ncall = other.call", "(other.total, other.items, other.Box.n)"),
    "a global": ("total = 0\ndef call(v):\n    global total\n    total += v", "total"),
    "inside objects": (
        "class Box: pass\nbox = Box()\nbox.inner = Box()\nbox.inner.xs = {'a': []}\ndef call(v):\n"
        "    box.inner.xs['a'].append(v)",
        "box.inner.xs",
    ),
    "two names": ("log = []\nkept = {'l': log}\ncall = log.append", "(kept['l'] is log, len(kept['l']))"),
    "another object": ("log = []\nkept = {'l': log}\ndef call(v):\n    global log\n    log = log + [v]", "(kept['l'], log)"),
    "an instance with slots": (
        "class Slots:\n    __slots__ = ('n',)\nslots = Slots()\nslots.n = 0\ndef call(v):\n    slots.n += v",
        "slots.n",
    ),
    "a name that goes": (
        "kept = {'n': 0}\nx = 0\nnames = globals()\ndef call(v):\n    kept['n'] += 1\n    names['x'] = v\n"
        "    if kept['n'] % 8 == 0:\n        names.pop('x')",
        "globals().get('x', 'gone')",
    ),
    "a default argument": ("def call(v, seen=[]):\n    seen.append(v)", "call.__defaults__"),
    "a closure": (
        "def make():\n    seen = []\n    def call(v):\n        seen.append(v)\n    return call\ncall = make()",
        "call.__closure__[0].cell_contents",
    ),
}
CHANGED.update(
    {
        "a number in a closure": (
            "def make():\n    n = 0\n    def call(v):\n        nonlocal n\n        n += v\n    def total():\n        return n\n"
            "    return call, total\ncall, total = make()",
            "call.__closure__[0].cell_contents",
        ),
        "a keyword's default": (
            "def call(v, *, seen={'n': 0}):\n    seen['n'] += v\n    call.__kwdefaults__['last'] = v",
            "call.__kwdefaults__",
        ),
        "a closure that is emptied": (
            "def make():\n    n = 0\n    def call(v):\n        nonlocal n\n        n = v\n        if v:\n            del n\n"
            "    return call\ncall = make()",
            "'empty' in repr(call.__closure__[0])",
        ),
        "a method's default": (
            "class Box:\n    def put(self, v, seen=[]):\n        seen.append(v)\ncall = Box().put",
            "Box.put.__defaults__",
        ),
        "a class method's closure": (
            "def make():\n    seen = []\n    class Box:\n        @classmethod\n        def put(cls, v):\n"
            "            seen.append(v)\n    return Box, seen\nBox, held = make()\ncall = Box.put",
            "(held, Box.put.__func__.__closure__[0].cell_contents is held)",
        ),
    }
)
MAY_RUN = ("a name that goes", "a closure that is emptied")
"""A checkpoint holds no place that is gone."""
FORMS = {
    "in a file": "for epoch in range(4):\n    {body}\n",
    "in a function": "def main():\n  for epoch in range(4):\n    {body}\nmain()\n",
}
BODY = """for step in range(20):
        w += step
        time.sleep(0.002)
        if step % 5 == 0:
            HOOKS["x"](step)
    print("epoch", epoch, w)"""


def _calling(made: str, form: str, seen: str, end: str = "") -> tuple[str, str]:
    """A script that calls what `made` makes from a table, and the same with what is `seen` asked for in each epoch."""
    body = BODY.replace("w +=", "W[0] +=").replace(", w)", ", W)")
    text = f"import time\n{made}\nHOOKS = {{'x': call}}\nW = [0]\n" + FORMS[form].format(body=body) + end
    return text, text.replace('print("epoch", epoch, W)', f'print("epoch", epoch, W); print("PROBE", {seen})')


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CHANGED)
def test_what_is_seen_to_change_is_restored(name: str, form: str, workshop: Workshop) -> None:
    made, seen = CHANGED[name]
    text, probed = _calling(made, form, seen, f"print('end', {seen})\n")
    workshop.write("other.py", OTHER)
    _, done, wanted = workshop.asked(text, probed, "PROBE")
    assert (done.out, done.code) == (wanted, 0) and "exact: " in done.said, done.said
    assert name in MAY_RUN or "4 blocks restored" in done.said, done.said


WRAPPED = {
    "lru_cache": (
        "import functools\n@functools.lru_cache(maxsize=1)\ndef call(v, seen=[]):\n    seen.append(v)\n    return len(seen)",
        "call.__wrapped__.__defaults__",
    ),
    "contextmanager": (
        "import contextlib\n@contextlib.contextmanager\ndef timed(v, seen=[]):\n    seen.append(v)\n    yield len(seen)\n"
        "def call(v):\n    with timed(v):\n        pass",
        "timed.__wrapped__.__defaults__",
    ),
    "singledispatch": (
        "import functools\n@functools.singledispatch\ndef call(v, seen=[]):\n    seen.append(v)",
        "call.__wrapped__.__defaults__",
    ),
    "no_grad": ("import torch\n@torch.no_grad()\ndef call(v, seen=[]):\n    seen.append(v)", "call.__wrapped__.__defaults__"),
    "a list's method": ("def call(v, add=[].append):\n    add(v)", "call.__defaults__[0].__self__"),
    "a counter's method": (
        "import itertools\nclass Sample:\n    new_id = itertools.count().__next__\ndef call(v):\n    return Sample.new_id()",
        "repr(Sample.new_id.__self__)",
    ),
    "a generator's method": (
        "import random\ndef call(v, draw=random.Random(5).random):\n    return draw()",
        "call.__defaults__[0].__self__.getstate()[1][-1], call.__defaults__[0].__self__.getstate()[1][0]",
    ),
    "a method in a closure": (
        "def made():\n    pop = [*range(400)].pop\n    return lambda v: pop()\ncall = made()",
        "len(call.__closure__[0].cell_contents.__self__)",
    ),
    "a defaultdict": (
        "import collections\ndef made():\n    n = 0\n    def fresh():\n        nonlocal n\n        n += 1\n        return n\n"
        "    return collections.defaultdict(fresh)\nd = made()\ndef call(v):\n    return d[len(d)]",
        "d.default_factory.__closure__[0].cell_contents, len(d)",
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_a_wrapper_of_a_library_leads_to_is_seen(name: str, workshop: Workshop) -> None:
    made, seen = WRAPPED[name]
    text, probed = _calling(made, "in a file", seen)
    _, done, wanted = workshop.asked(text, probed, "PROBE")
    assert (done.out, done.code) == (wanted, 0) and "exact: " in done.said, done.said


LEFT_UNREAD = """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.neural_network import MLPClassifier
    np.random.seed(4)
    X = np.random.randn(60, 5)
    y = (X[:, 0] > 0).astype(int)
    folds, found = StratifiedKFold(3, shuffle=True), []
    def custom(model, X, y):
        score = model.score(X, y)
        #PROBE
        return score
    for repeat in range(2):
        for train, test in folds.split(X, y):
            mlp = MLPClassifier((4,), max_iter=10)
            for epoch in range(2): mlp.partial_fit(X[train], y[train], classes=[0, 1])
            found.append(mlp.loss_)
        search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=folds, scoring=custom).fit(X, y)
        print(repeat, np.mean(found))
"""


def test_what_a_call_changed_in_a_name_that_nobody_reads_is_not_missed(workshop: Workshop) -> None:
    pytest.importorskip("sklearn")
    workshop.write("train.py", LEFT_UNREAD)  # `mlp` holds NumPy's own generator, which the search draws from
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", LEFT_UNREAD.replace("#PROBE", "print('P', score)"))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.code == 0 and "exact: " in replayed.said and "2 blocks restored" in replayed.said, replayed.said
