# Rule 3: v1, …, vn = u1, …, um adds every vi.
first = second = None
for epoch in range(3):
    for batch in batches[epoch]:
        first, second = batch, first
        work.add(first)
    print(first, second)
