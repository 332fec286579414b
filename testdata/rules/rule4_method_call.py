# Rule 4: obj.method(arg1, …, argm) adds obj.
for epoch in range(3):
    for batch in loader:
        optimizer.step()
    print(epoch)
