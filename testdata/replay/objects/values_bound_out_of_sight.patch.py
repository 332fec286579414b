# florc: exact
# florc: restores = any
# florc: why = values that cannot change, of names that florc sees read only: something else gives them to the names
import types

settings = types.SimpleNamespace(chunk=4096, shape=(1, 2))
shape = (1, 1)


def resize(name, value):
    globals()[name] = value
    settings.__dict__[name] = value


calls = {"resize": resize, "read": lambda *given: sum(map(len, map(str, given)))}
state = 0.25
for epoch in range(4):
    for i in range(6):
        calls["resize"]("shape", (epoch, i, len(shape)))
        calls["resize"]("chunk", 2**i + epoch)
        state += calls["read"](shape, settings.chunk, settings.shape)
    print("epoch", epoch, state)
+    print("PROBE", state, shape, settings.chunk, settings.shape, chunk)
