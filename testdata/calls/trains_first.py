"""Functions that others call, and that begin with a call that trains: what tells that they are entered stands on a line of its own."""
import lib
import registry


@registry.command
def fit():
    lib.fit(4)


@registry.command
def train():
    """With a docstring."""
    lib.trainer.train()
    print("done")


@registry.command
def on_one_line(): lib.fit(3)


@registry.command
def over_lines():
    # with a comment
    result = lib.fit(
        4,
    )
    return result


class Command:
    def __call__(self):
        self.model.fit(self.data)
