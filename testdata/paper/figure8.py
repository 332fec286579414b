# Figure 8: the same log statements, with checkpoint pseudoresume.
init_globals()
for epoch in range(0, args.stop):
    for batch in training_data:
        predictions = net(batch.X)
        avg_loss = loss(predictions, batch.y)
        avg_loss.backward()
        optimizer.step()
        tensorboard.add_histogram(net.params())
    lr_scheduler.step()
    evaluate(net, test_data)
    tensorboard.add_overlays(net, test_data)
