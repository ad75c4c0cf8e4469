"""Values and gradients of PyTorch's recurrent and attention layers: `/usr/bin/python3 test/golden/layers.py > test/golden/layers.json` (torch 1.13). The loss is sum(y cos(i)), y all outputs in a row."""
import json

import torch
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)


def draw(*shape):
    return torch.round(torch.randn(*shape) * 1000) / 1000


def plain(x):
    return {"shape": list(x.shape), "data": [round(float(v), 12) for v in x.detach().reshape(-1)]}


cases = []


def case(name, kind, args, options, module, inputs, f):
    """`inputs`: arrays by name, each with a gradient; `f` makes the outputs of them."""
    with torch.no_grad():
        for n, p in module.named_parameters():
            p.copy_((1 + draw(*p.shape) * 0.2) if "norm" in n and n.endswith("weight") else draw(*p.shape) * 0.5)
    given = {k: v.clone().requires_grad_(True) for k, v in inputs.items()}
    ys = f(module, **given)
    row = torch.cat([y.reshape(-1) for y in ys])
    loss = (row * torch.cos(torch.arange(row.numel(), dtype=torch.float64))).sum()
    named = list(module.named_parameters())
    grads = torch.autograd.grad(loss, [p for _, p in named] + list(given.values()))
    cases.append({
        "name": name, "kind": kind, "args": args, "options": options,
        "state": {n: plain(p) for n, p in named}, "inputs": {k: plain(v) for k, v in inputs.items()},
        "outputs": [plain(y) for y in ys],
        "grads": {**{n: plain(g) for (n, _), g in zip(named, grads)}, **{f"input {k}": plain(g) for k, g in zip(given, grads[len(named):])}},
    })


def recurrent(name, kind, options, module, shape):
    def f(m, x):
        y, last = m(x)
        return [y, *(last if isinstance(last, tuple) else [last])]
    case(name, kind, [3, 2], options, module, {"x": draw(*shape)}, f)


recurrent("rnn", "rnn", {}, nn.RNN(3, 2), (4, 2, 3))
recurrent("rnn of relu, two layers", "rnn", {"layers": 2, "activation": "relu"}, nn.RNN(3, 2, 2, nonlinearity="relu"), (4, 2, 3))
recurrent("lstm", "lstm", {}, nn.LSTM(3, 2), (5, 2, 3))
recurrent("lstm without bias", "lstm", {"bias": False}, nn.LSTM(3, 2, bias=False), (3, 3))
recurrent("lstm, both directions, two layers, batch first", "lstm", {"layers": 2, "bidirectional": True, "batchFirst": True}, nn.LSTM(3, 2, 2, bidirectional=True, batch_first=True), (2, 4, 3))
recurrent("gru", "gru", {}, nn.GRU(3, 2), (5, 2, 3))
recurrent("gru, both directions, two layers", "gru", {"layers": 2, "bidirectional": True}, nn.GRU(3, 2, 2, bidirectional=True), (3, 1, 3))


def starting(m, x, h, c):
    y, (hn, cn) = m(x, (h, c))
    return [y, hn, cn]


case("lstm with a carry", "lstm", [3, 2], {}, nn.LSTM(3, 2), {"x": draw(3, 2, 3), "h": draw(1, 2, 2), "c": draw(1, 2, 2)}, starting)

later = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
for name, options, more in [
    ("attention", {}, {}), ("attention without bias", {"bias": False}, {"bias": False}),
]:
    case(name, "attention", [4, 2], options, nn.MultiheadAttention(4, 2, batch_first=True, **more), {"x": draw(2, 4, 4)}, lambda m, x: [m(x, x, x, need_weights=False)[0]])
case("attention, causal", "attention", [4, 2], {"causal": True}, nn.MultiheadAttention(4, 2, batch_first=True), {"x": draw(2, 4, 4)}, lambda m, x: [m(x, x, x, attn_mask=later, need_weights=False)[0]])
case("attention to others", "attention", [4, 2], {}, nn.MultiheadAttention(4, 2, batch_first=True), {"x": draw(2, 3, 4), "context": draw(2, 5, 4)}, lambda m, x, context: [m(x, context, context, need_weights=False)[0]])

for norm, activation, causal in [("post", "relu", False), ("pre", "gelu", False), ("pre", "relu", True)]:
    case(
        f"block, {norm}, {activation}{', causal' if causal else ''}", "block", [4, 2], {"hidden": 6, "norm": norm, "activation": activation, "causal": causal},
        nn.TransformerEncoderLayer(4, 2, 6, 0.0, activation, batch_first=True, norm_first=norm == "pre"), {"x": draw(2, 4, 4)},
        lambda m, x, causal=causal: [m(x, later if causal else None)],
    )
for norm in ["post", "pre"]:
    case(
        f"block that attends to others, {norm}", "block", [4, 2], {"hidden": 6, "norm": norm, "activation": "relu", "causal": True, "cross": True},
        nn.TransformerDecoderLayer(4, 2, 6, 0.0, batch_first=True, norm_first=norm == "pre"), {"x": draw(2, 4, 4), "context": draw(2, 3, 4)},
        lambda m, x, context: [m(x, context, tgt_mask=later)],
    )

print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
