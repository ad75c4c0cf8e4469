"""Milliseconds of linear algebra in PyTorch, one thread, f64: a line of JSON, { size: { name: ms } }. bench/linalg.ts runs it."""
import json
import time

import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def best(f, rounds):
    f()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


out = {}
for n in (20, 100, 500):
    i = torch.arange(n * n, dtype=torch.float64).reshape(n, n)
    a = torch.sin(0.37 * i * i)
    s = a @ a.T + n * torch.eye(n)
    w = torch.cos(i)
    x = s.clone().requires_grad_()

    def gradient():
        x.grad = None
        (w * torch.linalg.cholesky(x)).sum().backward()

    cases = {
        'cholesky': lambda: torch.linalg.cholesky(s),
        'cholesky and gradient': gradient,
        'lu': lambda: torch.linalg.lu_factor(s),
        'solve': lambda: torch.linalg.solve(s, w[0]),
        'inv': lambda: torch.linalg.inv(s),
        'qr': lambda: torch.linalg.qr(a),
        'eigh': lambda: torch.linalg.eigh(s),
        'svd': lambda: torch.linalg.svd(a, full_matrices=False),
    }
    out[n] = {k: best(f, 4 if n > 100 else 30) for k, f in cases.items()}
for n in (2, 3, 4, 8):
    k = torch.arange(10000, dtype=torch.float64)[:, None, None]
    i = torch.arange(n, dtype=torch.float64)
    a = torch.cos(k + i[:, None] + i) + 2 * n * torch.eye(n)
    b = a[:, :, :1].contiguous()
    cases = {
        'cholesky': lambda: torch.linalg.cholesky(a),
        'lu': lambda: torch.linalg.lu(a),
        'solve': lambda: torch.linalg.solve(a, b),
        'triangularSolve': lambda: torch.linalg.solve_triangular(a, b, upper=False),
        'inv': lambda: torch.linalg.inv(a),
        'det': lambda: torch.linalg.det(a),
        'qr': lambda: torch.linalg.qr(a),
        'eigh': lambda: torch.linalg.eigh(a),
        'svd': lambda: torch.linalg.svd(a, full_matrices=False),
    }
    out[f'10000 of {n}'] = {k: best(f, 5) for k, f in cases.items()}
print(json.dumps(out))
