"""Makes optim-papers.json: 10 steps of optimisers that PyTorch 1.13 and optax have in other forms, or not at all, written from their papers in NumPy.

    python test/golden/optim-papers.py > test/golden/optim-papers.json
"""
import json

import numpy as np

STEPS = 10
rng = np.random.default_rng(3)
SHAPES = {'bias': (3,), 'cube': (2, 3, 2), 'scale': (), 'tall': (4, 2), 'wide': (2, 3)}
first = {k: rng.normal(size=s).round(3) for k, s in SHAPES.items()}
target = {k: rng.normal(size=s).round(3) for k, s in SHAPES.items()}
curve = {k: rng.uniform(0.5, 3, size=s).round(3) for k, s in SHAPES.items()}


def gradient(p):
    """Of sum curve (p - target)^2 / 2 + p^4 / 4, and of a product that joins the numbers of a row."""
    out = {}
    for k, x in p.items():
        g = curve[k] * (x - target[k]) + x**3
        if x.ndim >= 1:
            g = g + x.sum(axis=-1, keepdims=True)
        out[k] = g
    return out


def run(make):
    p = {k: v.copy() for k, v in first.items()}
    step, out = make(p), []
    for t in range(1, STEPS + 1):
        p = step(p, t)
        shown = step.shown(p) if hasattr(step, 'shown') else p
        out.append([float(v) for k in sorted(shown) for v in np.ravel(shown[k])])
    return out


def each(rule):
    """An optimiser leaf by leaf: rule(state, p, g, t) gives the next p and writes the state."""

    def make(p):
        states = {k: {} for k in p}

        def step(p, t):
            g = gradient(p)
            return {k: rule(states[k], p[k], g[k], t) for k in p}

        return step

    return make


def rms(x):
    return np.sqrt(np.mean(x * x))


# ---- Shazeer and Stern 2018, algorithm 4 (matrices) and 5 (vectors), section 9 for their defaults
def adafactor(rate=None, eps1=1e-30, eps2=1e-3, d=1.0, decay=0.8, weight_decay=0.0):
    def rule(s, p, g, t):
        rho = min(1e-2, 1 / np.sqrt(t)) if rate is None else rate
        beta = 1 - t**-decay
        g2 = g * g + eps1
        if p.ndim >= 2:
            s['r'] = beta * s.get('r', 0) + (1 - beta) * g2.sum(axis=-1)
            s['c'] = beta * s.get('c', 0) + (1 - beta) * g2.sum(axis=-2)
            v = s['r'][..., :, None] * s['c'][..., None, :] / s['r'].sum(axis=-1)[..., None, None]
        else:
            v = s['v'] = beta * s.get('v', 0) + (1 - beta) * g2
        u = g / np.sqrt(v)
        u = u / max(1, rms(u) / d)
        return p - max(eps2, rms(p)) * rho * u - rho * weight_decay * p

    return each(rule)


def adam_step(s, g, t, b1, b2, eps):
    s['m'] = b1 * s.get('m', 0) + (1 - b1) * g
    s['v'] = b2 * s.get('v', 0) + (1 - b2) * g * g
    return s['m'] / (1 - b1**t) / (np.sqrt(s['v'] / (1 - b2**t)) + eps)


# ---- Jordan et al. 2024
def newton_schulz(g, steps):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (np.linalg.norm(g) + 1e-7)
    if g.shape[0] > g.shape[1]:
        x = x.T
    for _ in range(steps):
        m = x @ x.T
        x = a * x + (b * m + c * m @ m) @ x
    return x.T if g.shape[0] > g.shape[1] else x


def muon(rate, adam_rate, mu=0.95, weight_decay=0.0, steps=5):
    def rule(s, p, g, t):
        if p.ndim != 2:
            return p - adam_rate * (adam_step(s, g, t, 0.9, 0.999, 1e-8) + weight_decay * p)
        s['m'] = mu * s.get('m', 0) + g
        o = newton_schulz(g + mu * s['m'], steps) * np.sqrt(max(1, p.shape[0] / p.shape[1]))
        return p - rate * (o + weight_decay * p)

    return each(rule)


# ---- Gupta, Koren and Singer 2018, algorithm 1
def power(a, exponent):
    w, v = np.linalg.eigh(a)
    return (v * w**exponent) @ v.T


def shampoo(rate, eps=1e-4, momentum=0.0, decay=1.0, weight_decay=0.0):
    fresh = 1 if decay == 1 else 1 - decay

    def rule(s, p, g, t):
        g = g + weight_decay * p
        if p.ndim == 2:
            n, m = p.shape
            s['l'] = decay * s.get('l', np.zeros((n, n))) + fresh * g @ g.T
            s['r'] = decay * s.get('r', np.zeros((m, m))) + fresh * g.T @ g
            u = power(s['l'] + eps * np.eye(n), -0.25) @ g @ power(s['r'] + eps * np.eye(m), -0.25)
        else:
            s['v'] = decay * s.get('v', 0) + fresh * g * g
            u = g / np.sqrt(s['v'] + eps)
        s['u'] = momentum * s.get('u', 0) + u
        return p - rate * s['u']

    return each(rule)


# ---- Zhang et al. 2019, algorithm 1, around Adam
def lookahead(rate, k, alpha):
    def make(p):
        slow = {n: v.copy() for n, v in p.items()}
        states = {n: {} for n in p}

        def step(p, t):
            g = gradient(p)
            fast = {n: p[n] - rate * adam_step(states[n], g[n], t, 0.9, 0.999, 1e-8) for n in p}
            if t % k == 0:
                for n in p:
                    slow[n] = slow[n] + alpha * (fast[n] - slow[n])
                return {n: v.copy() for n, v in slow.items()}
            return fast

        return step

    return make


# ---- Defazio et al. 2024, algorithm 1
def schedule_free(rate, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0, warmup=0, shown='y'):
    def make(p):
        z = {n: v.copy() for n, v in p.items()}
        x = {n: v.copy() for n, v in p.items()}
        v = {n: 0.0 for n in p}
        total = [0.0]

        def step(y, t):
            g = gradient(y)
            gamma = rate * np.sqrt(1 - beta2**t) * (min(1, t / warmup) if warmup else 1)
            total[0] += gamma**2
            c = gamma**2 / total[0]
            for n in y:
                v[n] = beta2 * v[n] + (1 - beta2) * g[n] ** 2
                z[n] = z[n] - gamma * (g[n] / (np.sqrt(v[n]) + eps) + weight_decay * y[n])
                x[n] = (1 - c) * x[n] + c * z[n]
            return {n: (1 - beta1) * z[n] + beta1 * x[n] for n in y}

        if shown == 'x':
            step.shown = lambda p: x
        return step

    return make


# ---- Foret et al. 2021, algorithm 1; Kwon et al. 2021 where adaptive; around gradient descent
def sam(rate, rho, adaptive=False):
    def make(p):
        def step(p, t):
            g = gradient(p)
            scale = {n: np.abs(p[n]) if adaptive else 1.0 for n in p}
            norm = np.sqrt(sum(((scale[n] * g[n]) ** 2).sum() for n in p))
            there = gradient({n: p[n] + rho * scale[n] ** 2 * g[n] / norm for n in p})
            return {n: p[n] - rate * there[n] for n in p}

        return step

    return make


print(json.dumps({
    'how': f'test/golden/optim-papers.py with numpy {np.__version__}',
    'problem': {name: {k: np.asarray(v).tolist() for k, v in tree.items()} for name, tree in [('first', first), ('target', target), ('curve', curve)]},
    'runs': {
        'adafactor': run(adafactor()),
        'adafactor with a rate': run(adafactor(rate=0.1, d=0.7, decay=0.6, eps2=0.5, weight_decay=0.1)),
        'muon': run(muon(0.1, 0.1)),
        'muon with decay': run(muon(0.05, 0.2, mu=0.8, weight_decay=0.1, steps=3)),
        'shampoo': run(shampoo(0.3)),
        'shampoo with means': run(shampoo(0.05, eps=1e-2, momentum=0.9, decay=0.8, weight_decay=0.1)),
        'lookahead': run(lookahead(0.1, 3, 0.4)),
        'scheduleFree': run(schedule_free(0.1)),
        'scheduleFree, its average': run(schedule_free(0.1, shown='x')),
        'scheduleFree with decay': run(schedule_free(0.2, beta1=0.8, beta2=0.95, weight_decay=0.1, warmup=4)),
        'sam': run(sam(0.05, 0.3)),
        'sam, adaptive': run(sam(0.03, 0.5, adaptive=True)),  # at 0.05 the steps are not stable: an error grows by 300
    },
}))
