"""Layers of PyTorch for test/golden/torch-layers.json: `python test/golden/torch-layers.py` (torch 1.13). State dicts, an input sin(1 + 3 i), results, gradients of sum(y cos(i)), running statistics."""
import json
import math
import os

import torch
from torch import nn

torch.manual_seed(0)


def wave(shape):
    n = math.prod(shape)
    return torch.tensor([math.sin(1 + 3 * i) for i in range(n)], dtype=torch.float64).reshape(shape)


def listed(x):
    return {"shape": list(x.shape), "data": [round(float(v), 12) for v in x.detach().reshape(-1)]}


def case(name, module, shape, train=True, index=False):
    module = module.double()
    for i, p in enumerate(module.parameters()):
        with torch.no_grad():
            p.copy_((wave(p.shape) * 0.5 + 0.1 * i))
    before = {k: listed(v) for k, v in module.state_dict().items() if "num_batches" not in k}
    module.train(train)
    x = (torch.arange(math.prod(shape)).reshape(shape) % 5) if index else wave(shape).requires_grad_(True)
    y = module(x)
    loss = (y.reshape(-1) * torch.cos(torch.arange(y.numel(), dtype=torch.float64))).sum()
    loss.backward()
    after = {k: listed(v) for k, v in module.state_dict().items() if "running" in k}
    return {
        "name": name,
        "train": train,
        "weights": before,
        "x": listed(x),
        "y": listed(y),
        "xBar": None if index else listed(x.grad),
        "gradients": {k: listed(p.grad) for k, p in module.named_parameters()},
        "running": after,
    }


cases = [
    case("dense", nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False)), (5, 3)),
    case("conv1d", nn.Sequential(nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2)), (2, 4, 7)),
    case("conv2d", nn.Sequential(nn.Conv2d(2, 3, (3, 2), stride=(1, 2), padding=(1, 0), dilation=(2, 1)), nn.ReLU(), nn.MaxPool2d(2)), (2, 2, 6, 9)),
    case("conv3d", nn.Sequential(nn.Conv3d(1, 2, 2, bias=False), nn.AvgPool3d(2)), (1, 1, 3, 4, 5)),
    case("convTranspose1d", nn.Sequential(nn.ConvTranspose1d(2, 3, 3, stride=2)), (2, 2, 4)),
    case("convTranspose2d", nn.Sequential(nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2)), (1, 4, 3, 4)),
    case("batchNorm train", nn.Sequential(nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3)), (3, 1, 4, 3)),
    case("batchNorm evaluation", nn.Sequential(nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3)), (3, 1, 4, 3), train=False),
    case("layerNorm", nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 2)), (3, 5, 4)),
    case("groupNorm", nn.Sequential(nn.GroupNorm(2, 4)), (2, 4, 3, 2)),
    case("embedding", nn.Sequential(nn.Embedding(5, 3), nn.LayerNorm(3)), (2, 4), index=True),
]
with open(os.path.join(os.path.dirname(__file__), "torch-layers.json"), "w") as f:
    json.dump(cases, f, separators=(",", ":"))
