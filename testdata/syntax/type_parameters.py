"""Type parameters (PEP 695), their defaults (PEP 696), and names that only look like keywords."""
type Pair[T, *Ts = *tuple[int, ...], **P = [int]] = tuple[T, T]
type = type(1); type Scalar = int | float


def train[Model: (Net, Other) = Net](net: Model, loader: list[int]) -> Model:
    for epoch in range(2):
        for batch in loader:
            net.step(batch)
        print(epoch)
    return net


class Box[T = int, U: object = dict[str, T]](Base[T]):
    type Inner = list[T]

    def get[K](self, key: K = None, /) -> K:
        return self.value


match = case = {"x": 1}
match["x"] = 2
case[0]: int = 3
train(Net(), [1])
