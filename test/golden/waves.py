"""Cases with values and gradients of PyTorch, as nn.py and vision.py write them: inputs are sin(1 + k + 3 i), scaled; the loss is sum(y cos(i))."""
import json
import math
import os

import torch

torch.set_default_dtype(torch.float64)


def wave(shape, k=0, size=1.0, shift=0.0):
    n = math.prod(shape)
    x = torch.tensor([shift + size * math.sin(1 + k + 3 * i) for i in range(n)]).reshape(shape)
    x.wave = {"k": k, "size": size, "shift": shift}
    return x


cases = []


def listed(x):
    return {"shape": list(x.shape), "data": [float(v) for v in x.reshape(-1)]}


def case(name, fn, options, f, args, floats=None):
    """`floats`: which arguments have gradients (all that are of floats unless given)."""
    xs = [a.clone().requires_grad_(floats is None or i in floats) if a.is_floating_point() else a for i, a in enumerate(args)]
    y = f(*xs)
    if not y.is_contiguous():
        y = y.contiguous()
    w = torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)
    wrt = [i for i, a in enumerate(xs) if a.is_floating_point() and (floats is None or i in floats)]
    grads = torch.autograd.grad((y * w).sum(), [xs[i] for i in wrt], allow_unused=True) if wrt else []
    cases.append({
        "name": name, "fn": fn, "options": options,
        "args": [{**({"shape": list(a.shape), **a.wave} if hasattr(a, "wave") else listed(a)), "dtype": "f64" if a.is_floating_point() else "bool" if a.dtype == torch.bool else "i32"} for a in args],
        "value": listed(y.detach()),
        "grads": {str(i): listed(torch.zeros_like(xs[i]) if g is None else g) for i, g in zip(wrt, grads)},
    })


def write(name):
    for c in cases:
        for x in [*c["args"], c["value"], *c["grads"].values()]:
            if "data" in x:
                x["data"] = [v if math.isinf(v) else float(f"{v:.13g}") for v in x["data"]]
    with open(os.path.join(os.path.dirname(__file__), name), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    print(len(cases), "cases")
