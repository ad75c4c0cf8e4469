"""Milliseconds of single operations on a million f32 in PyTorch, one thread: a line of JSON, { name: ms }. bench/operations.ts runs it."""
import json
import time

import torch

torch.set_num_threads(1)
i = torch.arange(1_000_000, dtype=torch.float64)
x = (2 * torch.sin(i) + 0.1).float()
y = (torch.cos(i) + 2).float()
m = x.reshape(1000, 1000)
rows = {
    "sin": lambda: torch.sin(x),
    "tanh": lambda: torch.tanh(x),
    "sigmoid": lambda: torch.sigmoid(x),
    "pow(x, 3)": lambda: x**3,
    "pow(x, -2)": lambda: x**-2,
    "mod": lambda: torch.remainder(x, y),
    "topk 10": lambda: torch.topk(x, 10),
    "median": lambda: torch.median(x),
    "sort": lambda: torch.sort(x),
    "900 of 1000 rows": lambda: m[37:937].clone(),
}


def best(f):
    f()
    times = []
    for _ in range(15):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


print(json.dumps({name: best(f) for name, f in rows.items()}))
