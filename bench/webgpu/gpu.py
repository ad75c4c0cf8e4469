# The same cases in PyTorch on a CUDA device, f32 without TF32: seconds by name, as JSON on the last line. `python gpu.py elements`
import json
import sys

import torch

torch.backends.cuda.matmul.allow_tf32 = False
N = int(float(sys.argv[1]))
draw = torch.Generator(device="cuda").manual_seed(1)


def random(*shape):
    return torch.rand(*shape, device="cuda", generator=draw) * 2 - 1


def seconds(run, repeats):
    run()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            run()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) / repeats / 1e3)
    return best


found = {}
for name, batch, m, k, n, order in [
    ("1024", 1, 1024, 1024, 1024, "nn"),
    ("2048", 1, 2048, 2048, 2048, "nn"),
    ("4096", 1, 4096, 4096, 4096, "nn"),
    ("2048 nt", 1, 2048, 2048, 2048, "nt"),
    ("2048 tn", 1, 2048, 2048, 2048, "tn"),
    ("1536x8192x1536", 1, 1536, 8192, 1536, "nn"),
    ("512", 1, 512, 512, 512, "nn"),
    ("64x784x32", 1, 64, 784, 32, "nn"),
    ("128x784x512", 1, 128, 784, 512, "nn"),
    ("64 of 128x64x128", 64, 128, 64, 128, "nn"),
    ("64 of 512x64x512", 64, 512, 64, 512, "nt"),
]:
    a = random(batch, m, k) if order[0] == "n" else random(batch, k, m).transpose(1, 2)
    b = random(batch, k, n) if order[1] == "n" else random(batch, n, k).transpose(1, 2)
    if batch == 1:
        a, b = a[0], b[0]
    c = torch.empty((batch, m, n) if batch > 1 else (m, n), device="cuda")
    repeats = max(5, min(200, int(2e12 / (2 * batch * m * n * k))))
    found["product " + name] = seconds(lambda: torch.matmul(a, b, out=c), repeats)

for size in (1024, 2048, 4096):
    # Ten products, each of the one before; small values, so that they stay finite.
    x, y, z = random(size, size), random(size, size) / size**0.5, torch.empty(size, size, device="cuda")

    def ten():
        a, b = x, z
        for _ in range(10):
            torch.matmul(a, y, out=b)
            a, b = b, (torch.empty_like(z) if a is x else a)

    found[f"product {size}, 10 in a row"] = seconds(ten, max(2, 200 * 512**3 // size**3))
x, y = random(N), random(N)
z = torch.empty_like(x)
rows = x.view(-1, 1000)
side = round(N**0.5)
square = x[: side * side].view(side, side)
turned = torch.empty(side, side, device="cuda")
for name, run in {
    "copy": lambda: z.copy_(x),
    "add": lambda: torch.add(x, y, out=z),
    "tanh": lambda: torch.tanh(x, out=z),
    "sum": lambda: x.sum(),
    "sum of rows": lambda: rows.sum(1),
    "sum of columns": lambda: rows.sum(0),
    "softmax": lambda: torch.softmax(rows, 1),
    "transpose": lambda: turned.copy_(square.t()),
}.items():
    found[name] = seconds(run, 20)
print(json.dumps({"device": torch.cuda.get_device_name(), "seconds": found}))
