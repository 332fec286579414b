"""Fields of formatted strings: PEP 701, and what came before."""
names = {"a": 1}
for epoch in range(3):
    for batch in loader:
        loss = step(net, batch)
        print(f"{names["a"]} {loss:.{digits(net)}f} {epoch = }" "plain" f'{net!r:>{width}}')
        print(f"{'\n'.join(rows.pop() for _ in batch)} {{not a field}} {
            loss  # a comment in a field
        }")
        print(f"{(best := max(loss, 0))} {lambda_ if loss else f"{f'{opt.step()}'}"}")
        text = rf"\{loss}\N" f"""{
batch:
    }"""
    report = t"{net} after {epoch}"
    log(f"{sched.step()}", report)
print(best, text)
