# florc: exact
# florc: why = the object at a place is another one after each block, and a list holds all of them
import random
random.seed(1)


class Node:
    def __init__(self, value):
        self.value = value
        self.items = [value]


class Trainer:
    pass


trainer = Trainer()
trainer.current = [Node(0)]
history = []
for epoch in range(5):
    for i in range(600):
        trainer.current[0] = Node(trainer.current[0].value + random.random())
    history.append(trainer.current[0])
    print("epoch", epoch, trainer.current[0].value)
+    print("PROBE", epoch, [node.value for node in history], [node.items for node in history])
