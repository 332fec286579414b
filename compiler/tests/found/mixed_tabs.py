# Figue main loop's iterator is nested inside a generator.
for epoch in range(N):
 \
	    for batch in training_data:
        optimizer.step()
