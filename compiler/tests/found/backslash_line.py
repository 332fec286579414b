# Every statement that holds statements, inside a memoized loop.
for epoch in range(2):
    for batch in loader:
        try:
            with lock, open(path) as file:
\
                match batch:
                    case {"x": x, **rest} if x:
                        model.fit(x)
                    case [first, *others] | (first, others):
                        model.fit(first)
                    case _:
                        pass
        except* ValueError as error:
            model.report(error)
        else:
            model.ok()
        finally:
            model.close_batch()
    else:
        model.end_epoch()
