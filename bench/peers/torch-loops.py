"""Value and gradient of the loops of bench/loops.ts in PyTorch's own loops, f64, on as many threads as it likes: milliseconds, the least of several."""
import json
import math
import time

import torch

torch.set_default_dtype(torch.float64)


def wave(n, f, size=1.0):
    return torch.tensor([size * math.sin(1 + f * i) for i in range(n)])


def least(f, runs):
    best = math.inf
    for _ in range(runs):
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
    return 1000 * best


w1, b1, w2 = wave(32, 1.1).reshape(2, 16) * 0.3, wave(16, 0.9) * 0.1, wave(32, 0.6).reshape(16, 2) * 0.3
y0 = wave(2, 2.0)
for x in (w1, b1, w2, y0):
    x.requires_grad_()


def ode():
    def f(y):
        return torch.tanh(y @ w1 + b1) @ w2

    y, dt = y0, 0.01
    for _ in range(1000):
        k1 = f(y)
        k2 = f(y + k1 * (dt / 2))
        k3 = f(y + k2 * (dt / 2))
        k4 = f(y + k3 * dt)
        y = y + (k1 + 2 * k2 + 2 * k3 + k4) * (dt / 6)
    return torch.autograd.grad((y * y).sum(), (w1, b1, w2, y0))


q, r = torch.tensor(0.1, requires_grad=True), torch.tensor(0.5, requires_grad=True)
ys = wave(200, 0.3).reshape(200, 1, 1)
F, I = torch.tensor([[1.0, 1.0], [0.0, 1.0]]), torch.eye(2)


def kalman():
    m, P, l = torch.zeros(2, 1), I, torch.tensor(0.0)
    for y in ys:
        m, P = F @ m, F @ P @ F.T + q * I
        S = P[:1, :1] + r
        K = P[:, :1] / S
        e = y - m[:1]
        l = l + (torch.log(S) + e * e / S).reshape(())
        m, P = m + K * e, P - K @ P[:1]
    return torch.autograd.grad(l, (q, r))


print(json.dumps({"version": torch.__version__, "ode": least(ode, 5), "kalman": least(kalman, 5)}))
