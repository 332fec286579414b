"""`match`: subjects without parentheses, and every kind of pattern."""
for event in stream:
    for part in event:
        match part, event.pop():
            case {"loss": float() as loss, **rest}, [first, *_]:
                net.update(loss, first)
            case Point(x=0, y=y) | Point(y, 0), -1 | 1 + 2j | None if y > 0:
                best = y
            case str.kind, ("a" "b"):
                match (yield_ := part):
                    case _: pass
            case other:
                match = other; print(match)
    print(event)
