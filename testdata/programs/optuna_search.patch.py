# florc: exact
# florc: again outer = nothing
# florc: again inner = C1 2 ×
# florc: again callback = C1 2 ×
# florc: again after = nothing
# florc: why = A statement in the objective: the call that runs it runs again, and names and times of the library are no anomalies.
# florc: longer = n_trials=4 -> n_trials=20
import optuna
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

optuna.logging.set_verbosity(optuna.logging.WARNING)
X, y = load_digits(return_X_y=True)


def objective(trial):
    model = RandomForestClassifier(trial.suggest_int("trees", 5, 20), max_depth=trial.suggest_int("depth", 2, 8), random_state=0)
    score = cross_val_score(model, X, y, cv=2).mean()
+    print("PROBE inner", trial.number, score)
    return score


def seen(study, trial):
+    print("PROBE callback", trial.number, study.best_value)
    return None


study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
for stage in range(2):
    study.optimize(objective, n_trials=4, callbacks=[seen])
    print("best", study.best_value)
+    print("PROBE outer", stage, study.best_trial.number, study.best_params)
+print("PROBE after", study.best_params, len(study.trials))
