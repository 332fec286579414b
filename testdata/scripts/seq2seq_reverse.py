# Sequence to sequence with attention and teacher forcing: spell words of the
# Python reference backwards.
import hashlib
import math
import random
import re

import torch
import torch.nn as nn
import torch.nn.functional as F
from pydoc_data.topics import topics
from torch import optim

random.seed(10)
torch.manual_seed(10)
torch.set_num_threads(1)

SOS_token = 0
EOS_token = 1
MAX_LENGTH = 9
hidden_size = 48
teacher_forcing_ratio = 0.5


class Lang:
    def __init__(self, name):
        self.name = name
        self.letter2index = {}
        self.index2letter = {0: "SOS", 1: "EOS"}
        self.n_letters = 2

    def add_word(self, word):
        for letter in word:
            if letter not in self.letter2index:
                self.letter2index[letter] = self.n_letters
                self.index2letter[self.n_letters] = letter
                self.n_letters += 1


lang = Lang("reference")
words = sorted({w for t in topics.values() for w in re.findall(r"\b[a-z]{3,8}\b", t)})
for w in words:
    lang.add_word(w)
pairs = [(w, w[::-1]) for w in words]
print("Counted", len(pairs), "pairs,", lang.n_letters, "letters")


def tensor_from_word(word):
    return torch.tensor([lang.letter2index[c] for c in word] + [EOS_token]).view(-1, 1)


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)

    def forward(self, input, hidden=None):
        return self.gru(self.embedding(input), hidden)


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.dropout = nn.Dropout(dropout_p)
        self.combine = nn.Linear(hidden_size * 2, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, input, hidden, encoder_outputs):
        embedded = self.dropout(self.embedding(input).view(1, 1, -1))
        weights = F.softmax(encoder_outputs[:, 0] @ hidden[0, 0] / math.sqrt(hidden.size(-1)), dim=0)
        context = (weights @ encoder_outputs[:, 0]).view(1, 1, -1)
        output = F.relu(self.combine(torch.cat((embedded, context), 2)))
        output, hidden = self.gru(output, hidden)
        return F.log_softmax(self.out(output[0]), dim=1), hidden, weights


def train(input_tensor, target_tensor, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion):
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    loss = 0
    encoder_outputs, decoder_hidden = encoder(input_tensor)
    decoder_input = torch.tensor([[SOS_token]])
    use_teacher_forcing = True if random.random() < teacher_forcing_ratio else False
    for di in range(target_tensor.size(0)):
        decoder_output, decoder_hidden, attention = decoder(decoder_input, decoder_hidden, encoder_outputs)
        loss += criterion(decoder_output, target_tensor[di])
        if use_teacher_forcing:
            decoder_input = target_tensor[di]
        else:
            topv, topi = decoder_output.topk(1)
            decoder_input = topi.squeeze().detach()
            if decoder_input.item() == EOS_token:
                break
    loss.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    return loss.item() / target_tensor.size(0)


def evaluate(encoder, decoder, word, max_length=MAX_LENGTH):
    with torch.no_grad():
        encoder_outputs, hidden = encoder(tensor_from_word(word))
        decoder_input = torch.tensor([[SOS_token]])
        decoded = []
        for di in range(max_length):
            output, hidden, attention = decoder(decoder_input, hidden, encoder_outputs)
            topv, topi = output.data.topk(1)
            if topi.item() == EOS_token:
                break
            decoded.append(lang.index2letter[topi.item()])
            decoder_input = topi.squeeze().detach()
        return "".join(decoded)


def train_iters(encoder, decoder, n_iters, print_every=60, learning_rate=0.02):
    print_loss_total = 0
    losses = []
    encoder_optimizer = optim.Adam(encoder.parameters(), lr=learning_rate / 4)
    decoder_optimizer = optim.Adam(decoder.parameters(), lr=learning_rate / 4)
    training_pairs = [random.choice(pairs) for _ in range(n_iters)]
    criterion = nn.NLLLoss()
    for iter in range(1, n_iters + 1):
        source, target = training_pairs[iter - 1]
        loss = train(tensor_from_word(source), tensor_from_word(target), encoder, decoder,
                     encoder_optimizer, decoder_optimizer, criterion)
        print_loss_total += loss
        if iter % print_every == 0:
            print_loss_avg = print_loss_total / print_every
            losses.append(print_loss_avg)
            print_loss_total = 0
            print("(%d %d%%) %.4f" % (iter, iter / n_iters * 100, print_loss_avg))
            word = random.choice(words)
            print(">", word, "<", evaluate(encoder, decoder, word))
    return losses


encoder = EncoderRNN(lang.n_letters, hidden_size)
decoder = AttnDecoderRNN(hidden_size, lang.n_letters)
plot_losses = train_iters(encoder, decoder, 360)
print("lowest", min(plot_losses))
sha = hashlib.sha256()
for p in list(encoder.parameters()) + list(decoder.parameters()):
    sha.update(p.detach().numpy().tobytes())
print("weights", sha.hexdigest()[:16])
