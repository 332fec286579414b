import time
todo = [1]
for epoch in range(3):
    todo.append(epoch)
    for x in todo:
        time.sleep(0)
        if len(todo) < 5 + epoch:
            todo.append(x + 1)
    print(todo)
+    print("PROBE", todo)
