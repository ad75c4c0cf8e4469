"""Single operations of bench/operations.ts in PyTorch. A line of JSON in, a line out: {"inputs"} makes the inputs, {"of", "wrt", "ms"} times an expression of them
during so many milliseconds, forward, or with the gradient of its sum in `wrt`; the answer is the milliseconds, and the sum of what was computed."""
import json
import sys
import time

import torch

torch.set_num_threads(1)
F = torch.nn.functional
names = {"torch": torch, "F": F}
kinds = {
    "wave": lambda i: 2 * torch.sin(i) + 0.1,
    "positive": lambda i: torch.cos(i) + 2,
    "unit": lambda i: 0.95 * torch.sin(i),
    "small": lambda i: 0.1 * torch.sin(i),
    "index": lambda i: (i * 7919) % 1000,
    "bool": lambda i: torch.sin(i) > 0,
}
dtypes = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int64, "bool": torch.bool}


def make(inputs):
    for name, (shape, kind, dtype) in inputs.items():
        n = 1
        for s in shape:
            n *= s
        i = torch.arange(n, dtype=torch.float64)
        names[name] = kinds[kind](i).to(dtypes[dtype]).reshape(shape)
    return True


def times(of, wrt, ms):
    local = dict(names)
    for name in wrt:
        local[name] = names[name].clone().requires_grad_(True)
    code = compile(of, of, "eval")

    def run():
        y = eval(code, local)
        y = y[0] if isinstance(y, tuple) else y
        return torch.autograd.grad(y.sum(), [local[name] for name in wrt])[0] if wrt else y

    value = run()
    out, end = [], time.perf_counter() + ms / 1000
    while len(out) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        out.append(1000 * (time.perf_counter() - start))
    return [min(out), float(value.double().sum())]


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = make(asked["inputs"]) if "inputs" in asked else times(asked["of"], asked["wrt"], asked["ms"])
    except Exception as e:  # an operation that this version lacks is a row without a time
        answer = str(e).split("\n")[0]
    print(json.dumps(answer), flush=True)
