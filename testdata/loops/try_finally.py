"""Interrupted by hand, logged, closed at the end."""
import logging

import torch
from torch.utils.tensorboard import SummaryWriter

logger = logging.getLogger(__name__)
writer = SummaryWriter("runs")
model, optimizer = make()
step = 0
try:
    for epoch in range(50):
        for batch in loader:
            try:
                loss = model(**batch).loss
            except RuntimeError as error:
                if "out of memory" not in str(error):
                    raise
                logger.warning("skipped a batch: %s", error)
                torch.cuda.empty_cache()
                continue
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            writer.add_scalar("loss", loss.item(), step)
            step += 1
        logger.info("epoch %d loss %.4f", epoch, loss.item())
except KeyboardInterrupt:
    logger.info("interrupted")
finally:
    writer.close()
    torch.save(model.state_dict(), "last.pt")
