import time
def train(fold):
    w = fold
    for epoch in range(3):
        for i in range(3):
            time.sleep(0)
            w = w * 2 + i
        print(fold, epoch, w)
+        print("PROBE", fold, epoch, w)
    return w
scores = [train(fold) for fold in range(2)]
print(scores)
+print("PROBE", scores)
