"""A GAN on a ring of eight Gaussians: two networks, two optimizers, labels made once."""
import argparse
import hashlib
import math

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=6, help="number of epochs of training")
parser.add_argument("--batch_size", type=int, default=128, help="size of the batches")
parser.add_argument("--lr", type=float, default=1e-3, help="adam: learning rate")
parser.add_argument("--b1", type=float, default=0.5, help="adam: decay of first order momentum of gradient")
parser.add_argument("--latent_dim", type=int, default=8, help="dimensionality of the latent space")
opt = parser.parse_args()
print(opt)

torch.manual_seed(0)
torch.set_num_threads(1)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(opt.latent_dim, 64, normalize=False), *block(64, 128), *block(128, 128), nn.Linear(128, 2)
        )

    def forward(self, z):
        points = self.model(z)
        return points


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(
            nn.Linear(2, 128), nn.LeakyReLU(0.2, inplace=True), nn.Dropout(0.1),
            nn.Linear(128, 64), nn.LeakyReLU(0.2, inplace=True), nn.Linear(64, 1), nn.Sigmoid(),
        )

    def forward(self, points):
        validity = self.model(points)
        return validity


angles = torch.randint(0, 8, (8192,)) * (2 * math.pi / 8)
ring = torch.stack([angles.cos(), angles.sin()], dim=1) + 0.05 * torch.randn(8192, 2)
dataloader = torch.utils.data.DataLoader(ring, batch_size=opt.batch_size, shuffle=True, drop_last=True)

adversarial_loss = torch.nn.BCELoss()
generator = Generator()
discriminator = Discriminator()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))

fixed_z = torch.randn(512, opt.latent_dim)
valid = torch.ones(opt.batch_size, 1)
fake = torch.zeros(opt.batch_size, 1)
G_losses, D_losses = [], []

for epoch in range(opt.n_epochs):
    for i, real in enumerate(dataloader):

        # Train Generator
        optimizer_G.zero_grad()
        z = torch.randn(real.shape[0], opt.latent_dim)
        gen = generator(z)
        g_loss = adversarial_loss(discriminator(gen), valid)
        g_loss.backward()
        optimizer_G.step()

        # Train Discriminator
        optimizer_D.zero_grad()
        real_loss = adversarial_loss(discriminator(real), valid)
        fake_loss = adversarial_loss(discriminator(gen.detach()), fake)
        d_loss = (real_loss + fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()

        G_losses.append(g_loss.item())
        D_losses.append(d_loss.item())

    with torch.no_grad():
        samples = generator.eval()(fixed_z)
        generator.train()
    radius = samples.norm(dim=1)
    print("[Epoch %d/%d] [D loss: %f] [G loss: %f] radius %.4f"
          % (epoch + 1, opt.n_epochs, d_loss.item(), g_loss.item(), radius.mean()))

print("best generator loss", min(G_losses), "at batch", G_losses.index(min(G_losses)))
digest = hashlib.sha256()
for net in (generator, discriminator):
    for tensor in net.state_dict().values():
        digest.update(tensor.numpy().tobytes())
print("weights", digest.hexdigest()[:16])
