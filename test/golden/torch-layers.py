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


class RMSNorm(nn.Module):
    """As Zhang and Sennrich 2019."""
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight


class UNet(nn.Module):
    """The U-Net of Ho et al. 2020 in small: two levels of residual blocks, a condition added in each."""
    def __init__(self, inputs, features, outputs, condition, groups):
        super().__init__()
        a, b = features

        def block(name, i, o):
            setattr(self, name + "_norm1", nn.GroupNorm(groups, i))
            setattr(self, name + "_conv1", nn.Conv2d(i, o, 3, padding=1))
            setattr(self, name + "_condition", nn.Linear(condition, o))
            setattr(self, name + "_norm2", nn.GroupNorm(groups, o))
            setattr(self, name + "_conv2", nn.Conv2d(o, o, 3, padding=1))
            if i != o:
                setattr(self, name + "_shortcut", nn.Conv2d(i, o, 1))

        self.first = nn.Conv2d(inputs, a, 3, padding=1)
        block("down0", a, a)
        self.down0_halve = nn.Conv2d(a, b, 3, stride=2, padding=1)
        block("down1", b, b)
        self.up0_double = nn.Conv2d(b, a, 3, padding=1)
        block("up0", 2 * a, a)
        self.norm = nn.GroupNorm(groups, a)
        self.last = nn.Conv2d(a, outputs, 3, padding=1)

    def block(self, name, x, c):
        def at(part):
            return getattr(self, name + "_" + part)
        silu = nn.functional.silu
        y = at("conv1")(silu(at("norm1")(x))) + at("condition")(silu(c))[:, :, None, None]
        y = at("conv2")(silu(at("norm2")(y)))
        return y + (at("shortcut")(x) if hasattr(self, name + "_shortcut") else x)

    def forward(self, x, condition):
        seen = self.block("down0", self.first(x), condition)
        y = self.block("down1", self.down0_halve(seen), condition)
        y = self.up0_double(nn.functional.interpolate(y, scale_factor=2, mode="nearest"))
        y = self.block("up0", torch.cat([y, seen], 1), condition)
        return self.last(nn.functional.silu(self.norm(y)))


def case(name, module, shape, train=True, index=False, condition=None):
    module = module.double()
    for i, p in enumerate(module.parameters()):
        with torch.no_grad():
            p.copy_((wave(p.shape) * 0.5 + 0.1 * i))
    before = {k: listed(v) for k, v in module.state_dict().items() if "num_batches" not in k}
    module.train(train)
    x = (torch.arange(math.prod(shape)).reshape(shape) % 5) if index else wave(shape).requires_grad_(True)
    more = [] if condition is None else [wave(condition)]
    y = module(x, *more)
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
        **({} if condition is None else {"condition": listed(more[0])}),
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
    case("rmsNorm", nn.Sequential(RMSNorm(4), nn.Linear(4, 2)), (3, 5, 4)),
    case("unet", UNet(2, (2, 4), 3, 3, 2), (2, 2, 4, 4), condition=(2, 3)),
]
with open(os.path.join(os.path.dirname(__file__), "torch-layers.json"), "w") as f:
    json.dump(cases, f, separators=(",", ":"))
