import json
import os
import random
import time

random.seed(8)
begun = time.time()
best, log = None, []
for epoch in range(4):
    loss = 1.0
    for step in range(5):
        loss *= random.random()
        time.sleep(0.01)
        log.append({"epoch": epoch, "loss": loss})
        with open("log.jsonl", "a") as file:
            file.write(json.dumps(log[-1]) + "\n")
    if best is None or loss < best:
        best = loss
        with open("best.json", "w") as file:
            json.dump({"epoch": epoch, "loss": loss}, file)
    print("epoch", epoch, loss, os.path.getsize("best.json"))
