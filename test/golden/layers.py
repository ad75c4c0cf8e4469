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



class Grouped(nn.Module):
    """Attention by its definition, position by position and head by head: grouped queries, places by complex rotations or by penalties."""
    def __init__(self, features, heads, kept, positions, causal, bias=True):
        super().__init__()
        self.h, self.g, self.d, self.positions, self.causal = heads, heads // kept, features // heads, positions, causal
        self.q_proj = nn.Linear(features, features, bias)
        self.k_proj = nn.Linear(features, kept * self.d, bias)
        self.v_proj = nn.Linear(features, kept * self.d, bias)
        self.o_proj = nn.Linear(features, features, bias)

    def turned(self, z, place):
        if self.positions != "rotary":
            return z
        half = self.d // 2
        turn = torch.exp(1j * place * 10000.0 ** (-2 * torch.arange(half) / self.d))
        pairs = torch.complex(z[:half], z[half:]) * turn
        return torch.cat([pairs.real, pairs.imag])

    def slope(self, head):
        whole = 1 << (self.h.bit_length() - 1)
        return 2.0 ** (-8 * (head + 1) / whole) if head < whole else 2.0 ** (-8 * (2 * (head - whole) + 1) / (2 * whole))

    def forward(self, x):
        n, d = x.shape[-2], self.d
        examples = []
        for e in x:
            q, k, v = self.q_proj(e), self.k_proj(e), self.v_proj(e)
            rows = []
            for i in range(n):
                parts = []
                for h in range(self.h):
                    own, kv = slice(h * d, h * d + d), slice(h // self.g * d, h // self.g * d + d)
                    seen = range(i + 1 if self.causal else n)
                    scores = torch.stack([self.turned(q[i, own], i) @ self.turned(k[j, kv], j) / d ** 0.5 - (self.slope(h) * abs(i - j) if self.positions == "alibi" else 0.0) for j in seen])
                    parts.append(torch.softmax(scores, 0) @ torch.stack([v[j, kv] for j in seen]))
                rows.append(torch.cat(parts))
            examples.append(self.o_proj(torch.stack(rows)))
        return torch.stack(examples)


for features, heads, kept, positions, causal, bias in [
    (8, 4, 2, "none", False, True), (8, 4, 1, "rotary", True, False), (8, 2, 1, "rotary", False, True), (6, 6, 2, "alibi", True, True), (6, 3, 1, "alibi", False, False),
]:
    case(
        f"attention, {heads} heads of {kept}, {positions}{', causal' if causal else ''}", "attention", [features, heads], {"kvHeads": kept, "positions": positions, "causal": causal, "bias": bias},
        Grouped(features, heads, kept, positions, causal, bias), {"x": draw(2, 3, features)}, lambda m, x: [m(x)],
    )



class Rms(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight


class Gated(nn.Module):
    def __init__(self, n, hidden):
        super().__init__()
        self.up_proj, self.gate_proj, self.down_proj = nn.Linear(n, hidden, False), nn.Linear(n, hidden, False), nn.Linear(hidden, n, False)

    def forward(self, x):
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Llama(nn.Module):
    """A block as LLaMA's, with its names in Hugging Face's files."""
    def __init__(self, n, heads, kept, hidden):
        super().__init__()
        self.self_attn, self.mlp = Grouped(n, heads, kept, "rotary", True, False), Gated(n, hidden)
        self.input_layernorm, self.post_attention_layernorm = Rms(n), Rms(n)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


for kept in [2, 1]:
    case(
        f"block as LLaMA's, 2 heads of {kept}", "block", [4, 2], {"kvHeads": kept, "hidden": 6, "normKind": "rms", "gated": True, "activation": "silu", "positions": "rotary", "causal": True, "bias": False},
        Llama(4, 2, kept, 6), {"x": draw(2, 3, 4)}, lambda m, x: [m(x)],
    )

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
