for epoch in* range(3):
    for batch in loader:
        optimizer.step()
    print(epoch)
