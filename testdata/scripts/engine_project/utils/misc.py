import random

import numpy as np
import torch


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)


def count_parameters(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
