import time
def push(*lists, **named):
    time.sleep(0)
    for l in lists:
        l.append(len(l))
    for k, l in named.items():
        l.append(k)
a, b, c = [], [], []
for epoch in range(3):
    for i in range(2):
        push(a, b, name=c)
        push(*[a, b], **{"other": c})
    print(len(a), len(c))
+    print("PROBE", a, b, c)
