# florc: hash_seed = none
import time
words = "the quick brown fox jumps over the lazy dog again and again".split()
vocab = list(set(words))
out = []
for epoch in range(3):
    for i, w in enumerate(vocab[:4]):
        time.sleep(0)
        out.append(w)
    print("TRUTH", out[-1], vocab.index("fox"))
+    print("PROBE", out[-1], vocab.index("fox"))
