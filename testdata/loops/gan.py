"""Two networks, two optimizers, images saved now and then."""
import torch
import torch.nn as nn
import torchvision.utils as vutils

netG, netD = Generator(), Discriminator()
netG.apply(weights_init)
netD.apply(weights_init)
criterion = nn.BCELoss()
fixed_noise = torch.randn(64, 100, 1, 1)
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
img_list, G_losses, D_losses = [], [], []
iters = 0

for epoch in range(num_epochs):
    for i, data in enumerate(dataloader, 0):
        netD.zero_grad()
        real = data[0].to(device)
        label = torch.full((real.size(0),), 1.0, device=device)
        output = netD(real).view(-1)
        errD_real = criterion(output, label)
        errD_real.backward()
        fake = netG(torch.randn(real.size(0), 100, 1, 1, device=device))
        label.fill_(0.0)
        errD_fake = criterion(netD(fake.detach()).view(-1), label)
        errD_fake.backward()
        optimizerD.step()

        netG.zero_grad()
        label.fill_(1.0)
        errG = criterion(netD(fake).view(-1), label)
        errG.backward()
        optimizerG.step()

        if i % 50 == 0:
            print("[%d/%d] D %.4f G %.4f" % (epoch, i, errD_real.item() + errD_fake.item(), errG.item()))
        G_losses.append(errG.item())
        D_losses.append(errD_real.item() + errD_fake.item())
        if iters % 500 == 0:
            with torch.no_grad():
                img_list.append(vutils.make_grid(netG(fixed_noise).cpu(), padding=2))
            vutils.save_image(fake, f"fake_{iters}.png")
        iters += 1
