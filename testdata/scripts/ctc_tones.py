# Speech recognition in miniature: a digit string is "spoken" as a sequence of
# tones with noise; a small recurrent network transcribes it with CTC.
import hashlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.data as data

SAMPLE_RATE = 4000
BLANK = 0
TONES = [0, 350, 480, 620, 790, 950, 1150, 1400, 1650]


class TextTransform:
    def text_to_int(self, text):
        return [int(c) for c in text]

    def int_to_text(self, labels):
        return "".join(str(i) for i in labels)


class Tones(data.Dataset):
    def __init__(self, n, seed):
        self.rng = np.random.RandomState(seed)
        self.items = [self.speak() for _ in range(n)]

    def speak(self):
        text = "".join(str(d) for d in self.rng.randint(1, len(TONES), size=self.rng.randint(2, 6)))
        parts = []
        for c in text:
            t = np.arange(int(SAMPLE_RATE * self.rng.uniform(0.06, 0.1))) / SAMPLE_RATE
            parts.append(np.sin(2 * np.pi * TONES[int(c)] * t) * np.hanning(len(t)))
            parts.append(np.zeros(self.rng.randint(60, 160)))
        wave = np.concatenate(parts)
        return (wave + self.rng.normal(0, 0.05, len(wave))).astype(np.float32), text

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


text_transform = TextTransform()
window = torch.hann_window(128)


def data_processing(batch, data_type="train"):
    spectrograms, labels, input_lengths, label_lengths = [], [], [], []
    for waveform, utterance in batch:
        spec = torch.stft(torch.from_numpy(waveform), 128, hop_length=48, window=window, return_complex=True)
        spec = spec.abs().log1p().transpose(0, 1)
        if data_type == "train":
            start = np.random.randint(0, 60)  # frequency masking
            spec = spec.clone()
            spec[:, start:start + 3] = 0
        spectrograms.append(spec)
        label = torch.Tensor(text_transform.text_to_int(utterance))
        labels.append(label)
        input_lengths.append(spec.shape[0])
        label_lengths.append(len(label))
    spectrograms = nn.utils.rnn.pad_sequence(spectrograms, batch_first=True)
    labels = nn.utils.rnn.pad_sequence(labels, batch_first=True)
    return spectrograms, labels, input_lengths, label_lengths


class SpeechModel(nn.Module):
    def __init__(self, n_feats=65, rnn_dim=48, n_class=len(TONES)):
        super().__init__()
        self.cnn = nn.Conv1d(n_feats, 48, 3, padding=1)
        self.norm = nn.LayerNorm(48)
        self.rnn = nn.GRU(48, rnn_dim, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(2 * rnn_dim, n_class)

    def forward(self, x):
        x = F.gelu(self.norm(self.cnn(x.transpose(1, 2)).transpose(1, 2)))
        x, _ = self.rnn(x)
        return self.classifier(self.dropout(x))


class IterMeter(object):
    """keeps track of total iterations"""

    def __init__(self):
        self.val = 0

    def step(self):
        self.val += 1

    def get(self):
        return self.val


def greedy_decoder(output):
    decodes = []
    for args in torch.argmax(output, dim=2):
        decode, previous = [], BLANK
        for index in args.tolist():
            if index != BLANK and index != previous:
                decode.append(index)
            previous = index
        decodes.append(text_transform.int_to_text(decode))
    return decodes


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (ca != cb))
    return row[-1]


def train(model, train_loader, criterion, optimizer, scheduler, epoch, iter_meter):
    model.train()
    for batch_idx, _data in enumerate(train_loader):
        spectrograms, labels, input_lengths, label_lengths = _data
        optimizer.zero_grad()
        output = F.log_softmax(model(spectrograms), dim=2).transpose(0, 1)
        loss = criterion(output, labels, input_lengths, label_lengths)
        loss.backward()
        optimizer.step()
        scheduler.step()
        iter_meter.step()
        if batch_idx % 6 == 0:
            print("Train Epoch: {} [{}]\tLoss: {:.6f}".format(epoch, batch_idx, loss.item()))


def test(model, test_loader, criterion):
    model.eval()
    test_loss, cers = 0, []
    with torch.no_grad():
        for i, _data in enumerate(test_loader):
            spectrograms, labels, input_lengths, label_lengths = _data
            output = F.log_softmax(model(spectrograms), dim=2)
            loss = criterion(output.transpose(0, 1), labels, input_lengths, label_lengths)
            test_loss += loss.item() / len(test_loader)
            for said, label, n in zip(greedy_decoder(output), labels, label_lengths):
                target = text_transform.int_to_text(int(v) for v in label[:n])
                cers.append(edit_distance(target, said) / len(target))
    avg_cer = sum(cers) / len(cers)
    print("Test set: Average loss: {:.4f}, Average CER: {:4f}\n".format(test_loss, avg_cer))


def main(learning_rate=8e-3, batch_size=16, epochs=5):
    torch.manual_seed(7)
    np.random.seed(7)
    torch.set_num_threads(1)
    train_loader = data.DataLoader(Tones(256, 1), batch_size=batch_size, shuffle=True,
                                   collate_fn=lambda x: data_processing(x, "train"))
    test_loader = data.DataLoader(Tones(48, 2), batch_size=batch_size,
                                  collate_fn=lambda x: data_processing(x, "valid"))
    model = SpeechModel()
    optimizer = torch.optim.AdamW(model.parameters(), learning_rate)
    criterion = nn.CTCLoss(blank=BLANK)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=learning_rate, steps_per_epoch=len(train_loader), epochs=epochs)
    iter_meter = IterMeter()
    for epoch in range(1, epochs + 1):
        train(model, train_loader, criterion, optimizer, scheduler, epoch, iter_meter)
        test(model, test_loader, criterion)
    print("iterations", iter_meter.get())
    sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values()))
    print("weights", sha.hexdigest()[:16])


if __name__ == "__main__":
    main()
