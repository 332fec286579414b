import time
class AverageMeter:
    def __init__(self, name): self.name = name; self.reset()
    def reset(self): self.val = self.avg = self.sum = self.count = 0
    def update(self, val, n=1):
        self.val = val; self.sum += val * n; self.count += n; self.avg = self.sum / self.count
class Progress:
    def __init__(self, n, meters): self.n, self.meters = n, meters
    def display(self, k): print(k, self.n, [(m.name, m.val, m.avg) for m in self.meters])
def train(epoch):
    losses, top1 = AverageMeter("loss"), AverageMeter("top1")
    progress = Progress(4, [losses, top1])
    for i in range(4):
        time.sleep(0)
        losses.update(1 / (i + 1 + epoch), 2)
        top1.update(i)
    progress.display(i)
+    print("PROBE", losses.avg, top1.sum)
    return losses.avg
best = 9
for epoch in range(3):
    best = min(best, train(epoch))
    print(best)
+    print("PROBE", best)
