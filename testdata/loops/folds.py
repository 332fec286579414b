"""Epochs inside folds: the loop in the middle is followed and memoized."""
scores = []
for fold in range(5):
    model = make_model(fold)
    optimizer = make_optimizer(model)
    for epoch in range(10):
        for batch in loaders[fold]:
            loss = model(batch).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    scores.append(evaluate(model))
print(scores)
