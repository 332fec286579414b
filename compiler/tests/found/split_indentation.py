for epoch in range(N):
 \
   for batch in training_data:
        optimizer.step()
