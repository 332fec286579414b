import builtins, collections, random, time
counts = collections.Counter()
def counted(name, function):
    def call(*args, **kwargs):
        counts[name] += 1
        return function(*args, **kwargs)
    return call
builtins.open, builtins.repr = counted("open", open), counted("repr", repr)
time.perf_counter, time.thread_time = counted("perf_counter", time.perf_counter), counted("thread_time", time.thread_time)
random.seed(3)
total = 0.0
for epoch in range(4):
    for step in range(3):
        time.sleep(0.003); total += random.random()
+    print("PROBE", total, dict(counts))
    print("epoch", epoch, total)
print(dict(counts))
