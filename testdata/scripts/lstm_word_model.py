# Word-level language model with an LSTM; the hidden state is carried from
# chunk to chunk, and the learning rate annealed when validation gets worse.
import hashlib
import math
import re

import torch
import torch.nn as nn
from pydoc_data.topics import topics

torch.manual_seed(1111)
torch.set_num_threads(1)

bptt, clip, log_interval = 12, 0.25, 40
lr, epochs, emsize, nhid = 10.0, 4, 48, 64


class Dictionary(object):
    def __init__(self):
        self.word2idx = {}
        self.idx2word = []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]


class Corpus(object):
    def __init__(self, chapters):
        self.dictionary = Dictionary()
        words = [w for name in chapters for w in re.findall(r"[a-z]+|[.,()]", topics[name].lower())]
        common = {w for w in set(words) if words.count(w) > 2}
        self.dictionary.add_word("<unk>")
        ids = torch.tensor([self.dictionary.add_word(w if w in common else "<unk>") for w in words])
        self.train, self.valid = ids[:-1000], ids[-1000:]


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, dropout=0.2):
        super(RNNModel, self).__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, 1)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid = nhid
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        return self.decoder(self.drop(output)).flatten(0, 1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(1, bsz, self.nhid), weight.new_zeros(1, bsz, self.nhid))


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


def repackage_hidden(h):
    """Wraps hidden states in new Tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    else:
        return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i):
    seq_len = min(bptt, len(source) - 1 - i)
    data = source[i:i + seq_len]
    target = source[i + 1:i + 1 + seq_len].view(-1)
    return data, target


corpus = Corpus(["exprlists", "specialnames", "compound", "class", "import", "formatstrings"])
train_data = batchify(corpus.train, 8)
val_data = batchify(corpus.valid, 5)
ntokens = len(corpus.dictionary.idx2word)
model = RNNModel(ntokens, emsize, nhid)
criterion = nn.CrossEntropyLoss()


def evaluate(data_source):
    model.eval()
    total_loss = 0.
    hidden = model.init_hidden(5)
    with torch.no_grad():
        for i in range(0, data_source.size(0) - 1, bptt):
            data, targets = get_batch(data_source, i)
            output, hidden = model(data, hidden)
            hidden = repackage_hidden(hidden)
            total_loss += len(data) * criterion(output, targets).item()
    return total_loss / (len(data_source) - 1)


def train():
    model.train()
    total_loss = 0.
    hidden = model.init_hidden(8)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        data, targets = get_batch(train_data, i)
        # Starting each batch, we detach the hidden state from how it was previously produced.
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total_loss += loss.item()
        if batch % log_interval == 0 and batch > 0:
            cur_loss = total_loss / log_interval
            print('| epoch {:3d} | {:3d} batches | lr {:02.2f} | loss {:5.2f} | ppl {:8.2f}'.format(
                epoch, batch, lr, cur_loss, math.exp(cur_loss)))
            total_loss = 0
    return hidden


best_val_loss = None
for epoch in range(1, epochs + 1):
    hidden = train()
    val_loss = evaluate(val_data)
    print('| end of epoch {:3d} | valid loss {:5.4f} | state {:.5f}'.format(epoch, val_loss, hidden[0].norm().item()))
    if not best_val_loss or val_loss < best_val_loss:
        best_val_loss = val_loss
    else:
        # Anneal the learning rate if no improvement has been seen in the validation dataset.
        lr /= 4.0

print('best', best_val_loss, 'lr', lr)
print('weights', hashlib.sha256(b''.join(v.numpy().tobytes() for v in model.state_dict().values())).hexdigest()[:16])
