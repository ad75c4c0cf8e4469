"""Linear algebra in PyTorch. A line of JSON in, a line out: {"of", "n", "dtype", "stack", "ms"} gives the least milliseconds of a call during so many. bench/linalg.ts asks."""
import functools
import json
import sys
import time

import torch

torch.set_num_threads(1)
dtypes = {'f32': torch.float32, 'f64': torch.float64}


@functools.cache
def inputs(n, dtype, stack):
    """A, a positive definite S, and right-hand sides, as bench/linalg.ts has them."""
    if stack:
        k = torch.arange(stack, dtype=torch.float64)[:, None, None]
        i = torch.arange(n, dtype=torch.float64)
        a = torch.cos(k + i[:, None] + i) + 2 * n * torch.eye(n)
        return [x.to(dtypes[dtype]) for x in (a, a, a[:, :, :1].contiguous())]
    i = torch.arange(n * n, dtype=torch.float64).reshape(n, n)
    a = torch.sin(0.37 * i * i)
    return [x.to(dtypes[dtype]) for x in (a, a @ a.T + n * torch.eye(n), torch.cos(i))]


def gradient(a, s, w):
    x = s.clone().requires_grad_()
    return torch.autograd.grad((w * torch.linalg.cholesky(x)).sum(), x)


cases = {
    'cholesky': lambda a, s, b: torch.linalg.cholesky(s),
    'cholesky and gradient': gradient,
    'lu': lambda a, s, b: torch.linalg.lu(s),
    'solve': lambda a, s, b: torch.linalg.solve(s, b if b.dim() > 2 else b[0]),
    'triangularSolve': lambda a, s, b: torch.linalg.solve_triangular(s, b, upper=False),
    'inv': lambda a, s, b: torch.linalg.inv(s),
    'det': lambda a, s, b: torch.linalg.det(s),
    'qr': lambda a, s, b: torch.linalg.qr(a),
    'eigh': lambda a, s, b: torch.linalg.eigh(s),
    'svd': lambda a, s, b: torch.linalg.svd(a, full_matrices=False),
}


def best(of, n, dtype, stack, ms):
    least, f, given = float('inf'), cases[of], inputs(n, dtype, stack)
    end = time.perf_counter() + ms / 1000
    while True:
        start = time.perf_counter()
        f(*given)
        now = time.perf_counter()
        least = min(least, 1000 * (now - start))
        if now > end:
            return least


for line in sys.stdin:
    print(json.dumps(best(**json.loads(line))), flush=True)
