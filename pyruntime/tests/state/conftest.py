"""Round trips shared by the tests of florc.state."""

import json

import pytest
from florc.state import encode, leaf_bytes, restore


class Frozen:
    """An encoded state with its leaves copied away from live memory."""

    def __init__(self, places, **options):
        encoded = encode(places, **options)
        self.graph = encoded.graph
        self.leaves = [leaf_bytes(leaf) for leaf in encoded.leaves]
        assert encoded.nbytes == sum(map(len, self.leaves))

    def __eq__(self, other):
        return self.graph == other.graph and self.leaves == other.leaves

    def restore(self, live, **options):
        return restore(self.graph, self.leaves.__getitem__, live, **options)

    @property
    def document(self):
        return json.loads(self.graph)


@pytest.fixture
def freeze():
    return Frozen


@pytest.fixture
def round_trip():
    """Encode, restore over each of `lives` and over nothing; each time the state encodes to the same bytes."""

    def check(places, *lives, nothing=True, **options):
        before = Frozen(places, **options)
        out = None
        for live in (*lives, *([{}] if nothing else [])):
            out = before.restore(live)
            after = Frozen(out, **options)
            assert json.loads(after.graph) == json.loads(before.graph)
            assert after == before
        return out

    return check
