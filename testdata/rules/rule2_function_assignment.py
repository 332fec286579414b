# Rule 2: v1, …, vn = func(arg1, …, argm) adds every vi.
total = None
for epoch in range(3):
    for batch in loader:
        total = accumulate(batch)
    print(total)
