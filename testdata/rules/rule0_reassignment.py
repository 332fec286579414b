# Rule 0: v1, …, vn = u1, …, um, and some vi is in the changeset already: no estimate.
best = 0.0
for epoch in range(3):
    for batch in loader:
        best = score(batch)
        best = max_of(best, batch)
    print(best)
