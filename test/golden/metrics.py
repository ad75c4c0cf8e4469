"""Makes metrics.json: metrics by their definitions in NumPy (those of scikit-learn), on predictions with ties.

    python test/golden/metrics.py > test/golden/metrics.json
"""
import json

import numpy as np

rng = np.random.default_rng(26)
N, K = 41, 4
scores = rng.normal(size=(N, K)).round(1)  # rounded: there are ties
classes = rng.integers(0, K - 1, size=N)  # the last class is never a target
mask = (rng.random(N) < 0.7).astype(int)
weights = rng.integers(0, 4, size=N)
single = (rng.random(N)).round(1)
binary = (rng.random(N) < 0.1 + 0.5 * single).astype(int)
targets2 = rng.normal(size=(N, 2)).round(2) + 1000
outputs2 = targets2 + 0.3 * rng.normal(size=(N, 2)).round(2)


def confusion(t, p, k, w):
    m = np.zeros((k, k))
    for i in range(len(t)):
        m[t[i], p[i]] += w[i]
    return m


def ratio(a, b):
    return a / b if b > 0 else 0.0


def prf(m, average):
    tp = np.diag(m)
    fp = m.sum(axis=0) - tp
    fn = m.sum(axis=1) - tp
    if average == 'binary':
        tp, fp, fn = tp[1:2], fp[1:2], fn[1:2]
    if average == 'micro':
        tp, fp, fn = (x.sum(keepdims=True) for x in (tp, fp, fn))
    keep = tp + fp + fn > 0
    tp, fp, fn = tp[keep], fp[keep], fn[keep]
    p = np.mean([ratio(a, a + b) for a, b in zip(tp, fp)])
    r = np.mean([ratio(a, a + b) for a, b in zip(tp, fn)])
    f = np.mean([ratio(2 * a, 2 * a + b + c) for a, b, c in zip(tp, fp, fn)])
    return [float(p), float(r), float(f)]


def auc(t, s, w):
    """Every pair of a positive and a negative row."""
    above = below = 0.0
    for i in np.flatnonzero(t == 1):
        for j in np.flatnonzero(t == 0):
            pair = w[i] * w[j]
            below += pair
            above += pair * (1.0 if s[i] > s[j] else 0.5 if s[i] == s[j] else 0.0)
    return above / below


def top(k, w):
    hit = []
    for s, c in zip(scores, classes):
        order = sorted(range(K), key=lambda j: (-s[j], j))
        hit.append(c in order[:k])
    return float(np.average(hit, weights=w))


def r2(w):
    mean = np.average(targets2, axis=0, weights=w)
    residual = (w[:, None] * (targets2 - outputs2) ** 2).sum(axis=0)
    spread = (w[:, None] * (targets2 - mean) ** 2).sum(axis=0)
    return float(np.mean(1 - residual / spread))


def all_of(w):
    p = scores.argmax(axis=1)
    m = confusion(classes, p, K, w)
    b = confusion(binary, (single > 0.5).astype(int), 2, w)
    log_z = np.log(np.exp(scores).sum(axis=1))
    return {
        'accuracy': float(np.average(p == classes, weights=w)),
        'top2': top(2, w),
        'top3': top(3, w),
        'confusion': m.tolist(),
        'macro': prf(m, 'macro'),
        'micro': prf(m, 'micro'),
        'binary': prf(b, 'binary'),
        'auc': auc(binary, single, w),
        'r2': r2(w),
        'mse': float(np.average(((targets2 - outputs2) ** 2).mean(axis=1), weights=w)),
        'perplexity': float(np.exp(np.average(log_z - scores[np.arange(N), classes], weights=w))),
    }


print(json.dumps({
    'data': {
        'scores': scores.tolist(), 'classes': classes.tolist(), 'mask': mask.tolist(), 'weights': weights.tolist(), 'single': single.tolist(),
        'binary': binary.tolist(), 'targets2': targets2.tolist(), 'outputs2': outputs2.tolist(),
    },
    'plain': all_of(np.ones(N)), 'masked': all_of(mask), 'weighted': all_of(weights),
}))
