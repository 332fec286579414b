"""`except A, B:` (PEP 758) and `except*` (PEP 654)."""
for attempt in range(3):
    for batch in loader:
        try:
            net.step(batch)
        except ValueError, pick(KeyError):
            continue
        except (OSError, IOError) as error:
            print(error)
        finally:
            count += 1
    try:
        net.save()
    except* ValueError, TypeError:
        pass
    print(attempt)
