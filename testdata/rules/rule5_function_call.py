# Rule 5: func(arg1, …, argm), its result dropped: no estimate.
for epoch in range(3):
    for batch in loader:
        train_step(net, batch)
    print(epoch)
