"""The workloads of bench/torch.ts and bench/threads.ts in PyTorch. A line of JSON in, a line out: {"id", "folder", "dtype"} prepares one and gives its value, {"id", "ms"} the
milliseconds of calls during so many milliseconds. Threads: the first argument."""
import json
import sys
import time

import numpy as np
import torch

torch.set_num_threads(int(sys.argv[1]))
F = torch.nn.functional


def squares(x):
    return (x * x).sum()


def mlp(x, W1, b1, W2, b2):
    return squares(torch.tanh(x @ W1 + b1) @ W2 + b2)


def lenet(x, K1, c1, K2, c2, D1, d1, D2, d2, D3, d3):
    y = F.max_pool2d(F.relu(F.conv2d(x, K1, c1)), 2)
    y = F.max_pool2d(F.relu(F.conv2d(y, K2, c2)), 2).reshape(128, 256)
    return squares(F.relu(F.relu(y @ D1 + d1) @ D2 + d2) @ D3 + d3)


def powers(x, z):
    for _ in range(100):
        z = x @ z
    return z.sum()


def rnn(xs, Wx, Wh, b):
    h = torch.zeros(64, 128, dtype=xs.dtype)
    for z in (xs @ Wx).unbind(0):
        h = torch.tanh(z + h @ Wh + b)
    return squares(h)


def lstm(xs, Wi, Wh, b):
    h = c = torch.zeros(256, 64, dtype=xs.dtype)
    for z in (xs @ Wi + b).unbind(0):
        i, f, g, o = (z + h @ Wh).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return squares(h)


def gru(xs, Wi, Wh, b):
    h = torch.zeros(256, 64, dtype=xs.dtype)
    for x in (xs @ Wi + b).unbind(0):
        rx, zx, nx = x.chunk(3, -1)
        rh, zh, nh = (h @ Wh).chunk(3, -1)
        r, z = torch.sigmoid(rx + rh), torch.sigmoid(zx + zh)
        h = (1 - z) * torch.tanh(nx + r * nh) + z * h
    return squares(h)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def squared_product(A, B):
    return squares(A @ B)


def exp_dense(W, b, x):
    return torch.exp(W @ x + b).sum()


def attention(x, w, v):
    h = x @ w
    return squares(torch.softmax(h @ h.transpose(1, 2), -1) @ F.relu(h @ v))


losses = {
    "W1": squares,
    "W2": lambda x: torch.atan2(x, torch.full((), 2.0, dtype=x.dtype)).sum(),
    "W3": mlp,
    "W4": lenet,
    "W5": exp_dense,
    "W5d": exp_dense,
    "W6": powers,
    "W7": rnn,
    "W8": lstm,
    "W9": gru,
    "W10": lambda a, b: (torch.tanh(a) * torch.sigmoid(b)).sum(),
    "W11": lambda x, y, W, b: ((x @ W + b - y) ** 2).mean(),
    "W12": torch.exp,
    "W14": rosenbrock,
    "W15s": squared_product,
    "W15l": squared_product,
    "conv3": lambda x, k: squares(F.conv2d(x, k, padding=1)),
    "conv5": lambda x, k: squares(F.conv2d(x, k)),
    "attention": attention,
    "elementary": lambda x: torch.tanh(torch.exp(torch.sin(x))).sum(),
    "powers": lambda x, y: (x**y).sum(),
    "squares": squares,
    "softmax": lambda x: torch.softmax(x, -1),
}


def forward(f, inputs):
    def run():
        y = f(**inputs)
        return (y.flatten()[0],)

    return run


def gradient(f, inputs, wrt):
    args = {k: v.clone().requires_grad_(k in wrt) for k, v in inputs.items()}
    leaves = [args[k] for k in wrt]

    def run():
        y = f(*args.values())
        return y, torch.autograd.grad(y, leaves)

    return run


def hessian_product(inputs):
    names = ["W1", "b1", "W2", "b2"]
    args = {k: inputs[k].clone().requires_grad_(k in names) for k in ["x", *names]}
    leaves, v = [args[k] for k in names], [inputs["v" + k] for k in names]

    def run():
        y = mlp(**args)
        g = torch.autograd.grad(y, leaves, create_graph=True)
        return y, torch.autograd.grad(g, leaves, v)

    return run


def whole_hessian(inputs):
    x = inputs["x"]

    def run():
        return rosenbrock(x), torch.autograd.functional.hessian(rosenbrock, x)

    return run


prepared = {}


def prepare(id, folder, wrt):
    with open(f"{folder}/inputs.json") as f:
        described = json.load(f)
    inputs = {
        name: torch.from_numpy(np.fromfile(f"{folder}/{name}.bin", dtype).reshape(shape)) for name, dtype, shape in described
    }
    if not wrt:
        run = forward(losses[id], inputs)
    else:
        run = hessian_product(inputs) if id == "W13" else whole_hessian(inputs) if id == "W14h" else gradient(losses[id], inputs, wrt)
    prepared[id] = run
    for _ in range(3):
        value = run()[0]
    return float(value)


def times(id, ms):
    run, out = prepared[id], []
    end = time.perf_counter() + ms / 1000
    while not out or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        out.append(1000 * (time.perf_counter() - start))
    return out


for line in sys.stdin:
    asked = json.loads(line)
    answer = times(asked["id"], asked["ms"]) if "ms" in asked else prepare(asked["id"], asked["folder"], asked["wrt"])
    print(json.dumps(answer), flush=True)
