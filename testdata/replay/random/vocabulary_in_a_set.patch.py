# florc: hash_seed = 3
import time
class Seen:
    def __init__(self):
        self.words, self.pairs = set(), set()
seen = Seen()
for epoch in range(3):
    for i in range(400):
        time.sleep(0)
        seen.words.add(f"w{(i * 7 + epoch * 3) % 523}")
        seen.pairs.add((i % 19, epoch))
    seen.words.discard(f"w{epoch}")
    print(list(seen.words)[::50], list(seen.pairs)[::9])
+    print("PROBE", list(seen.words)[:20], list(seen.pairs)[:20])
