"""A booster that goes on with itself in each round (`xgb_model=`), with objectives and metrics of the script's own."""

from __future__ import annotations

import pytest
from workshop import Workshop

WAYS = {
    "train": """
        booster, history = None, []
        d = xgb.DMatrix(X, y)
        for epoch in range(4):
            found = {}
            booster = xgb.train({"max_depth": 2, "seed": epoch, "verbosity": 0}, d, 8, obj=squared, custom_metric=far,
                                evals=[(d, "train")], evals_result=found, verbose_eval=False, xgb_model=booster)
            history.append(found["train"]["far"][-1])
            #PROBE
            print("epoch", epoch, round(history[-1], 4))
    """,
    "fit": """
        booster, history = None, []
        for epoch in range(4):
            model = xgb.XGBRegressor(n_estimators=8, max_depth=2, random_state=epoch, objective=own)
            model.fit(X, y, xgb_model=booster)
            booster = model.get_booster()
            history.append(float(((model.predict(X) - y) ** 2).mean()))
            #PROBE
            print("epoch", epoch, round(history[-1], 2))
    """,
}


@pytest.mark.parametrize("way", WAYS)
def test_each_round_is_right(workshop: Workshop, way: str) -> None:
    pytest.importorskip("xgboost")
    head = """
        import numpy as np, xgboost as xgb
        from sklearn.datasets import load_diabetes
        X, y = load_diabetes(return_X_y=True)
        def squared(predicted, d): return predicted - d.get_label(), np.ones(len(predicted))
        def own(label, predicted): return predicted - label, np.ones(len(label))
        def far(predicted, d): return "far", float((abs(predicted - d.get_label()) > 50).mean())
    """
    text = head + WAYS[way]
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    probed = 'print("P", booster.num_boosted_rounds(), booster.get_dump()[-1].split())'
    workshop.write("train.py", text.replace("#PROBE", probed))
    replayed = workshop.florc("replay", "train.py")
    truth = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("P")]
    assert replayed.out.splitlines() == truth and "exact: " in replayed.said, replayed.out + replayed.said
