# Garcia et al., "Hindsight Logging for Model Training", Figure 2, before it is prepared for hindsight logging.
init_globals()
checkpoint_resume(args, (net, optimizer))
for epoch in range(args.start, args.stop):
    for batch in training_data:
        predictions = net(batch.X)
        avg_loss = loss(predictions, batch.y)
        avg_loss.backward()
        optimizer.step()
    evaluate(net, test_data)
