# Figure 3: the scheduler is changed outside the inner loop, so its state is in no checkpoint (a partial checkpoint).
init_globals()
for epoch in range(0, args.stop):
    for batch in training_data:
        predictions = net(batch.X)
        avg_loss = loss(predictions, batch.y)
        avg_loss.backward()
        optimizer.step()
    lr_scheduler.step()
    evaluate(net, test_data)
