# Knowledge distillation: a teacher is trained first, then a small student
# learns from its soft labels. Both phases share one function.
import hashlib
import random
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

params = SimpleNamespace(alpha=0.7, temperature=3.0, lr=2e-3, batch_size=48, teacher_epochs=4, student_epochs=4, seed=230)
random.seed(params.seed)
torch.manual_seed(params.seed)
torch.set_num_threads(1)


class RunningAverage():
    """A simple class that maintains the running average of a quantity"""

    def __init__(self):
        self.steps = 0
        self.total = 0

    def update(self, val):
        self.total += val
        self.steps += 1

    def __call__(self):
        return self.total / float(self.steps)


def make_net(width, depth, dropout):
    layers = [nn.Linear(64, width), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def loss_fn_kd(outputs, labels, teacher_outputs, params):
    alpha, T = params.alpha, params.temperature
    soft = nn.KLDivLoss(reduction="batchmean")(F.log_softmax(outputs / T, dim=1), F.softmax(teacher_outputs / T, dim=1))
    return soft * (alpha * T * T) + F.cross_entropy(outputs, labels) * (1. - alpha)


def train(model, optimizer, dataloader, loss_fn, teacher=None):
    model.train()
    summ = []
    loss_avg = RunningAverage()
    for i, (train_batch, labels_batch) in enumerate(dataloader):
        if random.random() < 0.5:  # flip sideways
            train_batch = train_batch.view(-1, 8, 8).flip(2).reshape(-1, 64)
        output_batch = model(train_batch)
        if teacher is not None:
            with torch.no_grad():
                output_teacher_batch = teacher(train_batch)
            loss = loss_fn(output_batch, labels_batch, output_teacher_batch, params)
        else:
            loss = loss_fn(output_batch, labels_batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            summ.append({"accuracy": (output_batch.argmax(1) == labels_batch).float().mean().item(), "loss": loss.item()})
        loss_avg.update(loss.item())
    metrics_mean = {metric: sum(x[metric] for x in summ) / len(summ) for metric in summ[0]}
    print("- Train metrics: " + " ; ".join("{}: {:05.4f}".format(k, v) for k, v in metrics_mean.items()), "avg %.5f" % loss_avg())


def evaluate(model, dataloader):
    model.eval()
    right = 0
    for data_batch, labels_batch in dataloader:
        with torch.no_grad():
            output_batch = model(data_batch)
        right += (output_batch.argmax(1) == labels_batch).sum().item()
    return right / len(dataloader.dataset)


def train_and_evaluate(name, model, train_dl, val_dl, loss_fn, epochs, teacher=None):
    optimizer = torch.optim.Adam(model.parameters(), lr=params.lr)
    best_val_acc = 0.0
    if teacher is not None:
        teacher.eval()
    for epoch in range(epochs):
        print("{} epoch {}/{}".format(name, epoch + 1, epochs))
        train(model, optimizer, train_dl, loss_fn, teacher)
        val_acc = evaluate(model, val_dl)
        is_best = val_acc >= best_val_acc
        if is_best:
            best_val_acc = val_acc
        print("- Eval accuracy: {:.4f}{}".format(val_acc, " *" if is_best else ""))
    return best_val_acc


x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
train_dl = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=params.batch_size, shuffle=True)
val_dl = DataLoader(TensorDataset(x[1400:], y[1400:]), batch_size=100)
teacher = make_net(128, 2, 0.2)
student = make_net(24, 1, 0.0)
teacher_acc = train_and_evaluate("teacher", teacher, train_dl, val_dl, F.cross_entropy, params.teacher_epochs)
student_acc = train_and_evaluate("student", student, train_dl, val_dl, loss_fn_kd, params.student_epochs, teacher)
print("teacher %.4f student %.4f" % (teacher_acc, student_acc))
sha = hashlib.sha256()
for net in (teacher, student):
    sha.update(b"".join(v.numpy().tobytes() for v in net.state_dict().values()))
print("weights", sha.hexdigest()[:16])
