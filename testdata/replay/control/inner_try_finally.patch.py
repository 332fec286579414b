# florc: restores = any
import time
log = []
for epoch in range(3):
    try:
        for i in range(4):
            time.sleep(0)
            if i == epoch + 1:
                raise ValueError(i)
            log.append(i)
    except ValueError as error:
        log.append(str(error))
    finally:
        log.append("f")
    print(len(log))
+    print("PROBE", log)
