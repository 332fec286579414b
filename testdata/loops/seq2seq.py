"""An encoder and a decoder, teacher forcing, a loop over time inside the step, attention kept for plots."""
import random

import torch
from torch import nn

encoder, decoder = Encoder(), Decoder()
criterion = nn.NLLLoss(reduction="sum")
enc_opt = torch.optim.SGD(encoder.parameters(), lr=0.01)
dec_opt = torch.optim.SGD(decoder.parameters(), lr=0.01)


def train_pair(source, target):
    hidden = encoder.init_hidden()
    enc_opt.zero_grad()
    dec_opt.zero_grad()
    loss, outputs = 0, torch.zeros(len(source), 256)
    for i in range(len(source)):
        out, hidden = encoder(source[i], hidden)
        outputs[i] = out[0, 0]
    token = torch.tensor([[0]])
    forced = random.random() < 0.5
    for i in range(len(target)):
        out, hidden, attention = decoder(token, hidden, outputs)
        loss += criterion(out, target[i])
        token = target[i] if forced else out.topk(1)[1].squeeze().detach()
        if token.item() == 1:
            break
    loss.backward()
    enc_opt.step()
    dec_opt.step()
    return loss.item() / len(target)


def train_iters(pairs, n_iters, print_every=100):
    losses, total = [], 0
    for it in range(1, n_iters + 1):
        source, target = random.choice(pairs)
        total += train_pair(source, target)
        if it % print_every == 0:
            losses.append(total / print_every)
            total = 0
    return losses


for epoch in range(10):
    losses = train_iters(pairs, 75)
    print(epoch, losses[-1])
