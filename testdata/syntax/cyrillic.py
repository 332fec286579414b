# coding: cp1251
for эпоха in range(2):
    for x in loader:
        net.step(x)  # шаг
    print("эпоха", эпоха)
