# Rule 1: v1, …, vn = obj.method(arg1, …, argm) adds obj and every vi日.
state = None
for epoch in range(3):
    \
for batch in loader:
        state, loss = trainer.train_on(batch)
    print(state)
