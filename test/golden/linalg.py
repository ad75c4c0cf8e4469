"""Makes linalg.json: linear algebra by NumPy and SciPy, and gradients by PyTorch, in f64.

    pip install numpy scipy torch && python test/golden/linalg.py > test/golden/linalg.json

Vectors that are unique but for a sign or a basis are not compared themselves: a gradient is of a function that does not depend on the choice.
"""
import json
import sys

import numpy as np
import scipy.linalg as sl
import torch

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(5)


def plain(x):
    return np.asarray(x).tolist()


def weighed(y, seed=3):
    """A sum of y with weights that both sides know: sin(1), sin(2), ..."""
    w = torch.sin(torch.arange(1, y.numel() + 1, dtype=torch.float64)).reshape(y.shape)
    return (w * y).sum()


def case(op, args, f, arg=0, value=None, options=None):
    """f: the torch function whose weighed result is differentiated with respect to all args."""
    ts = [torch.tensor(a, requires_grad=True) for a in args]
    y = f(*ts)
    weighed(y).backward()
    return {
        'op': op,
        'args': [plain(a) for a in args],
        'options': options or {},
        'value': plain(value if value is not None else y.detach().numpy()),
        'grads': [plain(t.grad) for t in ts],
    }


def r(*shape):
    return rng.normal(size=shape).round(3)


def spd(*shape):
    a = r(*shape)
    return (a @ np.swapaxes(a, -1, -2) + 0.5 * np.eye(shape[-1])).round(3)


def sym(*shape):
    a = r(*shape)
    return ((a + np.swapaxes(a, -1, -2)) / 2).round(3)


half = lambda t: (t + t.mT) / 2
cases = []
for shape in [(1, 1), (4, 4), (2, 3, 3)]:
    a = spd(*shape)
    cases.append(case('cholesky', [a], lambda x: torch.linalg.cholesky(half(x)), value=np.linalg.cholesky(a)))
    b = r(*shape)
    cases += [
        case('inv', [b], torch.linalg.inv, value=np.linalg.inv(b)),
        case('det', [b], torch.linalg.det, value=np.linalg.det(b)),
        case('slogdet.logdet', [b], lambda x: torch.linalg.slogdet(x)[1], value=np.linalg.slogdet(b)[1]),
        case('slogdet.sign', [b], lambda x: torch.linalg.slogdet(x)[0] + 0 * x.sum(), value=np.linalg.slogdet(b)[0]),
        case('expm', [b], torch.matrix_exp, value=sl.expm(b)),
        case('matrixPower', [b], lambda x: torch.linalg.matrix_power(x, 5), value=np.linalg.matrix_power(b, 5), options=5),
        case('matrixPower', [b], lambda x: torch.linalg.matrix_power(x, -2), value=np.linalg.matrix_power(b, -2), options=-2),
    ]
    s = sym(*shape)
    cases += [
        case('eigvalsh', [s], lambda x: torch.linalg.eigvalsh(half(x)), value=np.linalg.eigvalsh(s)),
        case('eigh.squared', [s], lambda x: torch.linalg.eigh(half(x))[1] ** 2),
        case('solve', [b, r(shape[-1])], lambda x, y: (torch.linalg.inv(x) @ y)),
        case('solve', [b, r(*shape[:-1], 2)], torch.linalg.solve),
    ]
    for lower in (True, False):
        for trans in (True, False):
            for unit in (True, False):
                y = r(*shape[:-1], 2)
                t = b + 3 * np.eye(shape[-1])

                def tri(x, y):
                    tr = torch.tril(x) if lower else torch.triu(x)
                    if unit:
                        tr = tr - torch.diag_embed(torch.diagonal(tr, dim1=-2, dim2=-1)) + torch.eye(shape[-1])
                    return torch.linalg.solve(tr.mT if trans else tr, y)

                cases.append(case('triangularSolve', [t, y], tri, options={'lower': lower, 'transpose': trans, 'unitDiagonal': unit}))
expm_big = 20 * r(3, 3)
cases.append(case('expm', [expm_big], torch.matrix_exp, value=sl.expm(expm_big)))
cases.append(case('solve', [r(3, 3), r(4, 3, 2)], torch.linalg.solve))
cases.append(case('solve', [r(2, 1, 3, 3), r(4, 3, 2)], torch.linalg.solve))
for shape in [(4, 4), (5, 3), (3, 5), (2, 3, 2), (1, 1)]:
    a = r(*shape)
    k = min(shape[-2:])
    cases += [
        case('svdvals', [a], torch.linalg.svdvals, value=np.linalg.svd(a, compute_uv=False)),
        case('svd.squared', [a], lambda x: torch.cat([(torch.linalg.svd(x, full_matrices=False)[0] ** 2).flatten(), (torch.linalg.svd(x, full_matrices=False)[2] ** 2).flatten()])),
        case('pinv', [a], torch.linalg.pinv, value=np.linalg.pinv(a)),
        case('lstsq', [a, r(*shape[:-1], 2)], lambda x, y: torch.linalg.pinv(x) @ y),
    ]
    q, t = np.linalg.qr(a) if a.ndim == 2 else (None, None)

    def signed(x, which):
        q, t = torch.linalg.qr(x)
        d = torch.sign(torch.diagonal(t, dim1=-2, dim2=-1)).detach()
        return q * d[..., None, :] if which == 'q' else t * d[..., :, None]

    cases += [case('qr.q', [a], lambda x: signed(x, 'q')), case('qr.r', [a], lambda x: signed(x, 'r'))]
    for name, ord in [('fro', 'fro'), ('nuc', 'nuc'), (2, 2), (-2, -2), (1, 1), (-1, -1), ('inf', float('inf')), ('-inf', -float('inf'))]:
        cases.append(case('matrixNorm', [a], lambda x: torch.linalg.matrix_norm(x, ord), options={'ord': name}))
for shape in [(4, 4), (5, 3), (3, 5), (2, 3, 3)]:
    a = r(*shape)

    def packed(x):
        p, l, u = torch.linalg.lu(x)
        return torch.cat([l.flatten(), u.flatten()])

    cases.append(case('lu', [a], packed))
# A rank below the smaller side: values alone.
low = r(5, 2) @ r(2, 4)
plainly = [
    {'op': 'pinv', 'args': [plain(low)], 'value': plain(np.linalg.pinv(low))},
    {'op': 'matrixRank', 'args': [plain(low)], 'value': int(np.linalg.matrix_rank(low))},
    {'op': 'svdvals', 'args': [plain(low)], 'value': plain(np.linalg.svd(low, compute_uv=False))},
    {'op': 'lstsq', 'args': [plain(low), plain(np.arange(5.0))], 'value': plain(np.linalg.lstsq(low, np.arange(5.0))[0])},
    {'op': 'cross', 'args': [plain(low[:3, 0]), plain(low[1:4, 1])], 'value': plain(np.cross(low[:3, 0], low[1:4, 1]))},
    {'op': 'toeplitz', 'args': [[1, 2, 3], [9, 5, 6, 7]], 'value': plain(sl.toeplitz([1, 2, 3], [9, 5, 6, 7]))},
    {'op': 'blockDiag', 'args': [[[1, 2]], [3, 4], 5], 'value': plain(sl.block_diag([[1, 2]], [3, 4], 5))},
]
# Stacks of matrices and of right sides that broadcast against each other, wide and tall.
for shape in [(3, 3), (4, 2), (2, 3)]:
    a, b = r(3, 1, *shape), r(1, 2, shape[0], 2)
    cases.append(case('lstsq', [a, b], lambda x, y: torch.linalg.pinv(x) @ y))
a, b = r(3, 1, 3, 3) + 3 * np.eye(3), r(1, 2, 3, 2)
cases.append(case('solve', [a, b], lambda x, y: torch.linalg.inv(x) @ y))
cases.append(case('triangularSolve', [a, b], lambda x, y: torch.linalg.inv(torch.triu(x).mT) @ y, options={'lower': False, 'transpose': True, 'unitDiagonal': False}))
# Equal singular values, and zeros: what does not depend on the vectors.
q4, q3 = np.linalg.qr(r(4, 4))[0], np.linalg.qr(r(3, 3))[0]
for s in [(2, 2, 2), (2, 2, 0), (1, 0, 0)]:
    for a in [q4[:, :3] * s @ q3, (q4[:, :3] * s @ q3).T]:
        cases.append(case('svd.fourth', [a], lambda x: torch.trace(x @ x.mT @ x @ x.mT)))
h = sl.hilbert(12)
x = np.linalg.solve(h, h @ np.ones(12))
hilbert = {'backward': float(np.linalg.norm(h @ x - h @ np.ones(12)) / (np.linalg.norm(h) * np.linalg.norm(x)))}
for lower in (True, False):
    for trans in (True, False):
        t, y = r(3, 3) + 3 * np.eye(3), r(2, 2, 3)
        tri = lambda x, y: torch.linalg.solve((lambda m: m.mT if trans else m)(torch.tril(x) if lower else torch.triu(x)), y, left=False)
        cases.append(case('triangularSolve', [t, y], tri, options={'lower': lower, 'transpose': trans, 'left': False}))
        cases.append(case('triangularSolve', [t, y[0, 0]], lambda x, y: tri(x, y[None])[0], options={'lower': lower, 'transpose': trans, 'left': False}))
json.dump({'cases': cases, 'plainly': plainly, 'hilbert': hilbert}, sys.stdout, separators=(',', ':'))
print()
