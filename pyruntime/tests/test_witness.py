"""Objects of libraries that a block changes in ways that no list knows: each answer is that of a plain run, whatever was restored."""

from __future__ import annotations

import textwrap

import pytest
from workshop import Workshop

pytest.importorskip("pandas")
pytest.importorskip("sklearn")
pytest.importorskip("torch")

PANDAS = "import numpy as np, pandas as pd\ndf = pd.DataFrame(np.zeros((3, 30)), columns=[f'c{i}' for i in range(30)])"
SERIES = "import pandas as pd\ns = pd.Series([0.0, 1.0, 2.0])"
PIPE = """
import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3)); y = X @ [1., 2., 3.]
pipe = Pipeline([("scale", StandardScaler()), ("clf", SGDRegressor(random_state=0))]).fit(X, y)
"""
NET = """
import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
p = net.weight
v = parameters_to_vector(net.parameters()).detach().clone()
held = {"net": net}
"""
SPARSE = "import scipy.sparse as sp\nm = sp.csr_matrix([[1.0, 0.0], [0.0, 2.0]])\nl = sp.lil_matrix((3, 3))"
PLAIN = """
import array, collections, configparser, heapq, types
class Layer:
    def __init__(self): self._forward_hooks = (); self._cache = {}; self.__dict__["odd name"] = 0
layer = Layer()
table = {"a": layer}
ring = collections.deque([1, 2, 3, 4]); order = collections.OrderedDict(a=1, b=2, c=3)
numbers = array.array("d", [0.0, 1.0]); heap = [5, 6, 7]; config = configparser.ConfigParser(); config["a"] = {}
space = types.SimpleNamespace(x=0); counts = collections.Counter(); chain = collections.ChainMap({}, {"a": 1})
"""
WAYS = [
    *((PANDAS, change, "df.shape, df.to_numpy().sum()") for change in (
        "df.loc[len(df)] = float(i + epoch)",
        "df.at[0, 'c0'] += i + 1",
        "df.iat[1, 2] += i + 1",
        "df.iloc[0] = df.iloc[0] + i",
        "df.loc[df['c1'] < 1e9, 'c2'] += 1",
        "df.drop(df.columns[0], axis=1, inplace=True)",
        "df.drop(columns=df.columns[0], inplace=True)",
        "df.insert(0, f'n{epoch}{i}', 1.0)",
        "df.pop(df.columns[-1])",
        "df.isetitem(1, df.iloc[:, 1] + 1)",
        "df['c5'] += 1",
        "df.update(df + 1)",
        "df.sort_values('c3', ascending=False, inplace=True); df.iloc[0, 3] += 1",
        "df.columns = df.columns[::-1]; df[df.columns[0]] += 1",
    )),
    *((SERIES, change, "s.tolist()") for change in (
        "s.array[1] = i + epoch", "s.loc[len(s)] = i", "s.iat[0] += 1", "s.at[1] = i + epoch", "s.mask(s < 5, s + 1, inplace=True)",
    )),
    (PIPE, "pipe.named_steps['clf'].partial_fit(X, y)", "pipe['clf'].t_, pipe['clf'].coef_.tolist()"),
    (PIPE, "pipe[-1].partial_fit(X, y)", "pipe['clf'].t_, pipe['clf'].coef_.tolist()"),
    (PIPE, "dict(pipe.steps)['scale'].partial_fit(X + i)", "pipe['scale'].mean_.tolist()"),
    (PIPE, "pipe.set_params(clf__alpha=0.1 * (i + epoch + 1))", "pipe['clf'].alpha"),
    (NET, "vector_to_parameters(v + i + epoch, net.parameters())", "net.weight.tolist(), v.tolist()"),
    (NET, "vector_to_parameters(v, net.parameters()); v.add_(1)", "net.weight.tolist(), v.tolist()"),
    (NET, "opt.state[p]['k'] = opt.state[p].get('k', 0) + 1", "opt.state[p]['k']"),
    (NET, "held['net'].weight.data += 1", "net.weight.tolist()"),
    (NET, "next(held['net'].parameters()).data.numpy()[0, 0] += 1", "net.weight.tolist()"),
    (NET, "opt.param_groups[0]['lr'] *= 0.9", "opt.param_groups[0]['lr']"),
    (SPARSE, "m.data[i % 2] += 1", "m.toarray().tolist()"),
    (SPARSE, "l[i, i] += 1", "l.toarray().tolist()"),
    (SPARSE, "m.indptr.setflags(write=True); m.eliminate_zeros(); m.data[0] = i + epoch", "m.toarray().tolist()"),
    (PLAIN, "layer._forward_hooks = (*layer._forward_hooks, i)", "len(layer._forward_hooks)"),
    (PLAIN, "table['a']._cache[i + epoch] = i", "len(layer._cache)"),
    (PLAIN, "vars(table['a'])['odd name'] += 1", "vars(layer)['odd name']"),
    (PLAIN, "ring.rotate(1)", "list(ring)"),
    (PLAIN, "order.move_to_end(next(iter(order)))", "list(order)"),
    (PLAIN, "numbers[0] += 1; numbers.append(i)", "numbers.tolist()"),
    (PLAIN, "heapq.heapreplace(heap, epoch * 3 + i)", "heap"),
    (PLAIN, "config['a'][f'k{epoch}{i}'] = 'x'", "sorted(config['a'])"),
    (PLAIN, "space.__dict__.update(x=space.x + 1)", "space.x"),
    (PLAIN, "counts.subtract(a=i + 1)", "dict(counts)"),
    (PLAIN, "chain.maps[1]['a'] += 1; chain['b'] = i + epoch", "sorted(chain.items())"),
]  # fmt: skip
PROGRAM = """
import time
SETUP
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        CHANGE
    #PROBE
    print("epoch", epoch)
"""


def program(setup: str, change: str) -> str:
    changed = textwrap.indent(change, " " * 8).strip()
    return PROGRAM.replace("SETUP", setup.strip()).replace("CHANGE", changed)


@pytest.mark.parametrize(("setup", "change", "question"), WAYS, ids=[way[1] for way in WAYS])
def test_what_no_list_knows_is_answered_as_in_a_plain_run(workshop: Workshop, setup: str, change: str, question: str) -> None:
    text = program(setup, change)
    _, found, truth = workshop.asked(text, text.replace("#PROBE", f'print("P", epoch, {question})'))
    assert found.out == truth and found.code == 0, found.said
    assert "exact: " in found.said, found.said


COO = """
import time
import scipy.sparse as sp
m = sp.coo_matrix(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
    #PROBE
    print("epoch", epoch, m.nnz)
"""


def test_an_added_statement_that_changes_an_object_of_a_library_is_seen(workshop: Workshop) -> None:
    _, found, truth = workshop.asked(COO, COO.replace("#PROBE", "m.sum_duplicates(); print('P', m.nnz)"))
    assert found.out == truth and "exact: " not in found.said and found.code == 1, found.said


CELLS = """
    import random
    def main():
        random.seed(1)
        n, total = 0, 0.0
        def stats():
            return n * 2, total
        def step():
            nonlocal n, total
            n += 1
            total += random.random()
        for epoch in range(4):
            for i in range(10):
                step()
            #PROBE
            print("epoch", epoch)
    main()
"""


def test_what_functions_in_a_function_bind_of_its_names_is_restored(workshop: Workshop) -> None:
    _, replayed, wanted = workshop.asked(CELLS, CELLS.replace("#PROBE", "print('P', stats())"))
    assert replayed.out == wanted and "exact: " in replayed.said, replayed.out + replayed.said
    assert "4 blocks restored" in replayed.said, replayed.said
