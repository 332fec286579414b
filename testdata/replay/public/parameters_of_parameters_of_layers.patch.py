# florc: restores = any
import random, time
random.seed(0)

class Neuron:
    def __init__(self, n): self.w = [random.random() for _ in range(n)]
    def parameters(self): return self.w

class Layer:
    def __init__(self, n): self.neurons = [Neuron(n) for _ in range(n)]
    def parameters(self): return [p for n in self.neurons for p in n.parameters()]

class MLP:
    def __init__(self): self.layers = [Layer(4), Layer(4)]
    def parameters(self): return [p for l in self.layers for p in l.parameters()]

model = MLP()
for k in range(3):
    for m in range(3):
        time.sleep(0)
        s = sum(p * p for p in model.parameters())
        for layer in model.layers:
            for nn in layer.neurons: nn.w[m] -= 0.1 * s
    print(k, s)
+    print("PROBE", k, sum(model.parameters()))
