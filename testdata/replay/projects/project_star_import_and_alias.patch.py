import random
from helpers import *
from helpers import update as renew
random.seed(3)
for epoch in range(3):
    run(epoch)
    print(epoch)
+    print("PROBE", state, random.random() if False else len(state))
=== helpers.py
import random, time
state = {}
def update(key, value):
    state[key] = value
def run(epoch):
    for i in range(3):
        time.sleep(0)
        update((epoch, i), random.random())
