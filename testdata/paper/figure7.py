# Figure 7: hindsight log statements in the inner and in the outer loop, with checkpoint resume.
init_globals()
checkpoint_resume(args, (net, optimizer))
for epoch in range(args.start, args.stop):
    for batch in training_data:
        predictions = net(batch.X)
        avg_loss = loss(predictions, batch.y)
        avg_loss.backward()
        optimizer.step()
        tensorboard.add_histogram(net.params())
    evaluate(net, test_data)
    tensorboard.add_overlays(net, test_data)
