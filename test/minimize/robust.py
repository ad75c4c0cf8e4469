"""Writes robust.json: curves with outliers, and the minima that SciPy's least_squares (method 'trf', Jacobians by the complex step) finds with its robust losses.
Usage: python3 robust.py > robust.json"""
import json
import numpy as np
from scipy.optimize import least_squares

rng = np.random.default_rng(7)
MODELS = {
    'line': (lambda b, x: b[0] + b[1] * x, [1.0, 2.0]),
    'decay': (lambda b, x: b[0] * np.exp(-b[1] * x) + b[2], [3.0, 1.3, 0.5]),
    'wave': (lambda b, x: b[0] * np.sin(b[1] * x + b[2]), [2.0, 1.5, 0.4]),
}
NAMES = {'huber': 'huber', 'softL1': 'soft_l1', 'cauchy': 'cauchy', 'arctan': 'arctan'}
out = []
for k in range(12):
    model = list(MODELS)[k % 3]
    f, truth = MODELS[model]
    x = np.round(np.linspace(0, 4, 24), 3)
    y = f(truth, x) + 0.1 * rng.standard_normal(24)
    wrong = rng.choice(24, 4, replace=False)
    y[wrong] += rng.choice([-1, 1], 4) * rng.uniform(2, 8, 4)
    y = np.round(y, 4)
    scale = float(np.round(rng.uniform(0.1, 0.6), 2))
    start = np.round(np.array(truth) * rng.uniform(0.85, 1.15, len(truth)), 3)

    def jacobian(b):
        columns = []
        for i in range(len(b)):
            z = np.array(b, dtype=complex)
            z[i] += 1e-200j
            columns.append(np.imag(f(z, x)) / 1e-200)
        return np.stack(columns, 1)

    found = {}
    for ours, name in NAMES.items():
        s = least_squares(lambda b: f(b, x) - y, start, jac=jacobian, loss=name, f_scale=scale, method='trf', ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=5000)
        found[ours] = {'value': float(s.cost), 'x': s.x.tolist(), 'optimality': float(s.optimality), 'evaluations': int(s.nfev)}
    out.append({'model': model, 'x': x.tolist(), 'y': y.tolist(), 'scale': scale, 'start': start.tolist(), 'found': found})
print('[\n' + ',\n'.join(json.dumps(o, separators=(',', ':')) for o in out) + '\n]')
