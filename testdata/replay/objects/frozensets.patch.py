# florc: exact
import time
class Vocabulary: pass
words = Vocabulary()
words.known, history = frozenset(), []
for epoch in range(4):
    for step in range(6):
        time.sleep(0)
        words.known = words.known | {1000 - step, 8 * (step + epoch)}
    history.append(frozenset((epoch, word) for word in words.known))
    print(epoch)
+    print("PROBE", list(words.known), [list(one) for one in history])
