epochs = 4
rate = 0.1
seen = 0
history = []
