"""Makes gaussian-process.json: the Gaussian process of examples/gaussian-process.ts by NumPy and SciPy, in f64.

    pip install numpy scipy torch && python test/golden/gaussian-process.py > test/golden/gaussian-process.json

The log density is that of scipy.stats.multivariate_normal (an eigendecomposition, no Cholesky factor); the best hyperparameters are those of
scipy.optimize.minimize, BFGS, on the density by torch.linalg's LU factors, with its gradient.
"""
import json
import re
import sys
from pathlib import Path

import numpy as np
import scipy
import torch
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

table = (Path(__file__).parent / '../../examples/data/co2.ts').read_text()
co2 = np.array([float(v) for v in re.findall(r'\d+\.\d+', table[table.index('= ['):])])
time = 1974 + (4.5 + np.arange(len(co2))) / 12
names = ['rise', 'riseYears', 'season', 'seasonYears', 'seasonShape', 'passing', 'passingYears', 'noise']


def kernel(logs, a, b):
    p = dict(zip(names, np.exp(logs)))
    d = a[:, None] - b[None, :]
    rise = p['rise'] ** 2 * np.exp(-(d / p['riseYears']) ** 2 / 2)
    season = p['season'] ** 2 * np.exp(-(d / p['seasonYears']) ** 2 / 2 - (np.sin(np.pi * d) / p['seasonShape']) ** 2 / 2)
    return rise + season + p['passing'] ** 2 * np.exp(-np.abs(d) / p['passingYears'])


def seen(count):
    y = co2[500 - count:500]
    return time[500 - count:500], y - y.mean()


def covariance(logs, x):
    return kernel(logs, x, x) + np.exp(2 * logs[-1]) * np.eye(len(x))


def by_scipy(logs, count):
    x, y = seen(count)
    return multivariate_normal(np.zeros(count), covariance(logs, x)).logpdf(y)


def loss_and_gradient(logs, x, y):
    t = torch.tensor(logs, requires_grad=True)
    p = dict(zip(names, torch.exp(t)))
    d = torch.tensor(x[:, None] - x)
    k = p['rise'] ** 2 * torch.exp(-(d / p['riseYears']) ** 2 / 2)
    k = k + p['season'] ** 2 * torch.exp(-(d / p['seasonYears']) ** 2 / 2 - (torch.sin(torch.pi * d) / p['seasonShape']) ** 2 / 2)
    k = k + p['passing'] ** 2 * torch.exp(-d.abs() / p['passingYears']) + p['noise'] ** 2 * torch.eye(len(x), dtype=torch.float64)
    v = torch.tensor(y)
    out = v @ torch.linalg.solve(k, v) / 2 + torch.linalg.slogdet(k)[1] / 2 + len(x) / 2 * np.log(2 * np.pi)
    out.backward()
    return out.item(), t.grad.numpy()


fixed = np.log([40, 30, 2, 90, 0.7, 0.6, 1.5, 0.25])
x, y = seen(500)
ahead = time[500:584:12]
weights = np.linalg.solve(covariance(fixed, x), kernel(fixed, x, ahead))
variance = np.exp(2 * fixed[[0, 2, 5, 7]]).sum() - (kernel(fixed, x, ahead) * weights).sum(0)

few = seen(120)
start = np.log([50, 50, 3, 50, 1, 0.5, 0.5, 0.3])
best = minimize(loss_and_gradient, start, few, jac=True, method='BFGS', options={'gtol': 1e-6})
print(best.message, best.nit, file=sys.stderr)
json.dump(
    {
        'versions': f'NumPy {np.__version__}, SciPy {scipy.__version__}',
        'fixed': dict(zip(names, fixed)),
        'logDensity': by_scipy(fixed, 500),
        'times': ahead.tolist(),
        'mean': (weights.T @ y).tolist(),
        'deviation': np.sqrt(variance).tolist(),
        'best': {'count': 120, 'loss': best.fun, 'params': dict(zip(names, best.x))},
    },
    sys.stdout,
    indent=2,
)
print()
