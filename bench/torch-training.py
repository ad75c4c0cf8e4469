"""Training steps of bench/training.ts in PyTorch. A line of JSON in, a line out: {"model", "params", "inputs"} prepares one and gives its losses of the first
steps, {"model", "ms"} the milliseconds of steps during so many milliseconds. Threads: the first argument."""
import json
import sys
import time

import torch

torch.set_num_threads(int(sys.argv[1]))
F = torch.nn.functional


def made(shape, k, scale, dtype):
    n = 1
    for s in shape:
        n *= s
    i = torch.arange(n, dtype=torch.float64)
    if dtype == "i32":
        return ((i * 7919) % scale).long().reshape(shape)
    return (torch.sin(1 + k + 7 * i) * scale).float().reshape(shape)


def mlp(p, x, y):
    h = F.relu(x @ p["w1"] + p["b1"])
    h = F.relu(h @ p["w2"] + p["b2"])
    return F.cross_entropy(h @ p["w3"] + p["b3"], y)


def lenet(p, x, y):
    h = F.max_pool2d(F.relu(F.conv2d(x, p["k1"], p["c1"])), 2)
    h = F.max_pool2d(F.relu(F.conv2d(h, p["k2"], p["c2"])), 2).reshape(x.shape[0], 256)
    h = F.relu(h @ p["w1"] + p["b1"])
    h = F.relu(h @ p["w2"] + p["b2"])
    return F.cross_entropy(h @ p["w3"] + p["b3"], y)


def transformer(p, x, y):
    batch, time, width = x.shape
    heads = 8
    q, k, v = F.linear(F.layer_norm(x, [width], p["g1"], p["s1"]), p["qkv"].T, p["c"]).chunk(3, -1)
    q, k, v = (t.reshape(batch, time, heads, width // heads).transpose(1, 2) for t in (q, k, v))
    a = torch.softmax(q @ k.transpose(-1, -2) / (width // heads) ** 0.5, -1) @ v
    x = x + a.transpose(1, 2).reshape(batch, time, width) @ p["out"] + p["o"]
    h = F.gelu(F.layer_norm(x, [width], p["g2"], p["s2"]) @ p["up"] + p["u"])
    x = x + h @ p["down"] + p["d"]
    return F.cross_entropy(x.mean(1) @ p["head"], y)


models = {"mlp": mlp, "lenet": lenet, "transformer": transformer}
prepared = {}


def prepare(model, params, inputs):
    p = {name: made(*how).requires_grad_(True) for name, how in params.items()}
    x = {name: made(*how) for name, how in inputs.items()}
    adam = torch.optim.Adam(p.values(), lr=1e-3)

    def step():
        adam.zero_grad(set_to_none=True)
        loss = models[model](p, **x)
        loss.backward()
        adam.step()
        return loss

    prepared[model] = step
    return [step().item() for _ in range(3)]


def times(model, ms):
    step, out = prepared[model], []
    end = time.perf_counter() + ms / 1000
    while not out or time.perf_counter() < end:
        start = time.perf_counter()
        step()
        out.append(1000 * (time.perf_counter() - start))
    return out


for line in sys.stdin:
    asked = json.loads(line)
    answer = times(asked["model"], asked["ms"]) if "ms" in asked else prepare(asked["model"], asked["params"], asked["inputs"])
    print(json.dumps(answer), flush=True)
