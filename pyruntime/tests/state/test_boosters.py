"""Boosters of XGBoost and LightGBM: their state is behind a handle, and is put back into the live object."""

from __future__ import annotations

from typing import Any

import pytest
from florc.state import CannotRestore, Unsupported, encode, leaf_bytes, restore

np = pytest.importorskip("numpy")
X, Y = np.random.default_rng(0).normal(size=(200, 5)), np.arange(200) % 2


def round_trip(state: dict[str, Any], live: dict[str, Any]) -> None:
    encoded = encode({"place": state})
    leaves = [bytes(leaf_bytes(leaf)) for leaf in encoded.leaves]
    restore(encoded.graph, leaves.__getitem__, {"place": live})
    again = encode({"place": live})
    assert again.graph == encoded.graph and [bytes(leaf_bytes(leaf)) for leaf in again.leaves] == leaves


def test_of_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    table = xgboost.DMatrix(X, label=Y)
    trained, live = (xgboost.Booster({"max_depth": 2, "seed": 1, "nthread": 1}, [table]) for _ in range(2))
    for step in range(4):
        trained.update(table, step)
    other = {"booster": live, "table": table}
    round_trip({"booster": trained, "table": table}, other)
    assert other["booster"] is live and live.num_boosted_rounds() == 4
    for booster in (trained, live):
        booster.update(table, 4)
    assert live.save_raw() == trained.save_raw()
    table.set_weight(np.ones(200))
    with pytest.raises(CannotRestore):
        round_trip({"table": xgboost.DMatrix(X, label=Y)}, {"table": table})


def test_of_an_estimator_of_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    fitted, live = (xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1) for _ in range(2))
    fitted.fit(X, Y)
    round_trip({"model": fitted}, {"model": live})
    assert np.array_equal(live.predict_proba(X), fitted.predict_proba(X))


def test_of_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    table, fresh = lightgbm.Dataset(X, Y), lightgbm.Dataset(X, Y)
    trained = lightgbm.train({"verbose": -1, "num_threads": 1}, table, 3)
    live: dict[str, Any] = {"booster": None, "table": fresh}
    round_trip({"booster": trained, "table": table}, live)
    assert np.array_equal(live["booster"].predict(X), trained.predict(X)) and live["table"] is fresh
    with pytest.raises(Unsupported):
        encode({"place": {"booster": lightgbm.Booster({"verbose": -1}, lightgbm.Dataset(X, Y))}})
