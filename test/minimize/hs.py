"""Writes hs.json: problems of Hock and Schittkowski (Test examples for nonlinear programming codes, 1981) with their published minima, and what SciPy's SLSQP finds with exact gradients (by
the complex step).  Usage: python3 hs.py > hs.json"""
import json
import numpy as np
from scipy.optimize import minimize

log, sin, sqrt, inf, pi = np.log, np.sin, np.sqrt, np.inf, np.pi
banana = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
# number, start, minimum, f, equal (= 0), atMost (<= 0), lower, upper
PROBLEMS = [
    (1, [-2, 1], 0, banana, None, None, [-inf, -1.5], None),
    (2, [-2, 1], 0.0504261879, banana, None, None, [-inf, 1.5], None),
    (3, [10, 1], 0, lambda x: x[1] + 1e-5 * (x[1] - x[0]) ** 2, None, None, [-inf, 0], None),
    (4, [1.125, 0.125], 8 / 3, lambda x: (x[0] + 1) ** 3 / 3 + x[1], None, None, [1, 0], None),
    (5, [0, 0], -sqrt(3) / 2 - pi / 3, lambda x: sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1, None, None, [-1.5, -3], [4, 3]),
    (6, [-1.2, 1], 0, lambda x: (1 - x[0]) ** 2, lambda x: [10 * (x[1] - x[0] ** 2)], None, None, None),
    (7, [2, 2], -sqrt(3), lambda x: log(1 + x[0] ** 2) - x[1], lambda x: [(1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4], None, None, None),
    (10, [-10, 10], -1, lambda x: x[0] - x[1], None, lambda x: [3 * x[0] ** 2 - 2 * x[0] * x[1] + x[1] ** 2 - 1], None, None),
    (21, [-1, -1], -99.96, lambda x: 0.01 * x[0] ** 2 + x[1] ** 2 - 100, None, lambda x: [10 - 10 * x[0] + x[1]], [2, -50], [50, 50]),
    (22, [2, 2], 1, lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2, None, lambda x: [x[0] + x[1] - 2, x[0] ** 2 - x[1]], None, None),
    (26, [-2.6, 2, 2], 0, lambda x: (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4, lambda x: [(1 + x[1] ** 2) * x[0] + x[2] ** 4 - 3], None, None, None),
    (28, [-4, 1, 1], 0, lambda x: (x[0] + x[1]) ** 2 + (x[1] + x[2]) ** 2, lambda x: [x[0] + 2 * x[1] + 3 * x[2] - 1], None, None, None),
    (35, [0.5, 0.5, 0.5], 1 / 9, lambda x: 9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2 + 2 * x[0] * x[1] + 2 * x[0] * x[2], None,
     lambda x: [x[0] + x[1] + 2 * x[2] - 3], [0, 0, 0], None),
    (39, [2, 2, 2, 2], -1, lambda x: -x[0], lambda x: [x[1] - x[0] ** 3 - x[2] ** 2, x[0] ** 2 - x[1] - x[3] ** 2], None, None, None),
    (40, [0.8, 0.8, 0.8, 0.8], -0.25, lambda x: -x[0] * x[1] * x[2] * x[3], lambda x: [x[0] ** 3 + x[1] ** 2 - 1, x[0] ** 2 * x[3] - x[2], x[3] ** 2 - x[1]], None, None, None),
    (42, [1, 1, 1, 1], 28 - 10 * sqrt(2), lambda x: (x[0] - 1) ** 2 + (x[1] - 2) ** 2 + (x[2] - 3) ** 2 + (x[3] - 4) ** 2, lambda x: [x[0] - 2, x[2] ** 2 + x[3] ** 2 - 2], None, None,
     None),
    (43, [0, 0, 0, 0], -44, lambda x: x[0] ** 2 + x[1] ** 2 + 2 * x[2] ** 2 + x[3] ** 2 - 5 * x[0] - 5 * x[1] - 21 * x[2] + 7 * x[3], None,
     lambda x: [x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + x[3] ** 2 + x[0] - x[1] + x[2] - x[3] - 8, x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2 + 2 * x[3] ** 2 - x[0] - x[3] - 10,
                2 * x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + 2 * x[0] - x[1] - x[3] - 5], None, None),
    (48, [3, 5, -3, 2, -2], 0, lambda x: (x[0] - 1) ** 2 + (x[1] - x[2]) ** 2 + (x[3] - x[4]) ** 2, lambda x: [x[0] + x[1] + x[2] + x[3] + x[4] - 5, x[2] - 2 * (x[3] + x[4]) + 3],
     None, None, None),
    (61, [0, 0, 0], -143.6461422, lambda x: 4 * x[0] ** 2 + 2 * x[1] ** 2 + 2 * x[2] ** 2 - 33 * x[0] + 16 * x[1] - 24 * x[2],
     lambda x: [3 * x[0] - 2 * x[1] ** 2 - 7, 4 * x[0] - x[2] ** 2 - 11], None, None, None),
    (65, [-5, 5, 0], 0.9535288567, lambda x: (x[0] - x[1]) ** 2 + (x[0] + x[1] - 10) ** 2 / 9 + (x[2] - 5) ** 2, None, lambda x: [x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 48],
     [-4.5, -4.5, -5], [4.5, 4.5, 5]),
    (71, [1, 5, 5, 1], 17.0140173, lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2], lambda x: [x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + x[3] ** 2 - 40],
     lambda x: [25 - x[0] * x[1] * x[2] * x[3]], [1, 1, 1, 1], [5, 5, 5, 5]),
    (76, [0.5, 0.5, 0.5, 0.5], -4.681818181, lambda x: x[0] ** 2 + 0.5 * x[1] ** 2 + x[2] ** 2 + 0.5 * x[3] ** 2 - x[0] * x[2] + x[2] * x[3] - x[0] - 3 * x[1] + x[2] - x[3], None,
     lambda x: [x[0] + 2 * x[1] + x[2] + x[3] - 5, 3 * x[0] + x[1] + 2 * x[2] - x[3] - 4, 1.5 - x[1] - 4 * x[2]], [0, 0, 0, 0], None),
    (100, [1, 2, 0, 4, 0, 1, 1], 680.6300573,
     lambda x: (x[0] - 10) ** 2 + 5 * (x[1] - 12) ** 2 + x[2] ** 4 + 3 * (x[3] - 11) ** 2 + 10 * x[4] ** 6 + 7 * x[5] ** 2 + x[6] ** 4 - 4 * x[5] * x[6] - 10 * x[5] - 8 * x[6], None,
     lambda x: [2 * x[0] ** 2 + 3 * x[1] ** 4 + x[2] + 4 * x[3] ** 2 + 5 * x[4] - 127, 7 * x[0] + 3 * x[1] + 10 * x[2] ** 2 + x[3] - x[4] - 282,
                23 * x[0] + x[1] ** 2 + 6 * x[5] ** 2 - 8 * x[6] - 196, 4 * x[0] ** 2 + x[1] ** 2 - 3 * x[0] * x[1] + 2 * x[2] ** 2 + 5 * x[5] - 11 * x[6]], None, None),
    (113, [2, 3, 5, 5, 1, 2, 7, 3, 6, 10], 24.3062091,
     lambda x: x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 14 * x[0] - 16 * x[1] + (x[2] - 10) ** 2 + 4 * (x[3] - 5) ** 2 + (x[4] - 3) ** 2 + 2 * (x[5] - 1) ** 2 + 5 * x[6] ** 2
     + 7 * (x[7] - 11) ** 2 + 2 * (x[8] - 10) ** 2 + (x[9] - 7) ** 2 + 45, None,
     lambda x: [4 * x[0] + 5 * x[1] - 3 * x[6] + 9 * x[7] - 105, 10 * x[0] - 8 * x[1] - 17 * x[6] + 2 * x[7], -8 * x[0] + 2 * x[1] + 5 * x[8] - 2 * x[9] - 12,
                3 * (x[0] - 2) ** 2 + 4 * (x[1] - 3) ** 2 + 2 * x[2] ** 2 - 7 * x[3] - 120, 5 * x[0] ** 2 + 8 * x[1] + (x[2] - 6) ** 2 - 2 * x[3] - 40,
                0.5 * (x[0] - 8) ** 2 + 2 * (x[1] - 4) ** 2 + 3 * x[4] ** 2 - x[5] - 30, x[0] ** 2 + 2 * (x[1] - 2) ** 2 - 2 * x[0] * x[1] + 14 * x[4] - 6 * x[5],
                -3 * x[0] + 6 * x[1] + 12 * (x[8] - 8) ** 2 - 7 * x[9]], None, None),
]


def derivative(f, x):
    columns = []
    for k in range(len(x)):
        z = np.array(x, dtype=complex)
        z[k] += 1e-200j
        columns.append(np.imag(np.array(f(z))) / 1e-200)
    return np.stack(columns, -1)


finite = lambda v: None if v is None else [None if np.isinf(b) else b for b in v]
out = []
for number, x0, minimum, f, equal, at_most, lower, upper in PROBLEMS:
    x0 = np.array(x0, dtype=float)
    constraints = []
    if equal is not None:
        constraints.append({'type': 'eq', 'fun': lambda x, h=equal: np.array(h(x)), 'jac': lambda x, h=equal: derivative(h, x)})
    if at_most is not None:
        constraints.append({'type': 'ineq', 'fun': lambda x, g=at_most: -np.array(g(x)), 'jac': lambda x, g=at_most: -derivative(g, x)})
    bounds = None if lower is None and upper is None else list(zip(lower or [-inf] * len(x0), upper or [inf] * len(x0)))
    s = minimize(f, x0, jac=lambda x: derivative(f, x), method='SLSQP', bounds=bounds, constraints=constraints, options=dict(ftol=1e-14, maxiter=500))
    violation = max([0.0] + [abs(v) for v in (equal(s.x) if equal else [])] + [max(0.0, v) for v in (at_most(s.x) if at_most else [])])
    out.append({'number': number, 'start': x0.tolist(), 'minimum': float(minimum), 'f0': float(f(x0)), 'equal0': equal(x0) if equal else [], 'atMost0': at_most(x0) if at_most else [],
                'lower': finite(lower), 'upper': finite(upper),
                'slsqp': {'value': float(s.fun), 'x': s.x.tolist(), 'violation': float(violation), 'evaluations': int(s.nfev), 'gradients': int(s.njev), 'success': bool(s.success)}})
print('[\n' + ',\n'.join(json.dumps(o, separators=(',', ':')) for o in out) + '\n]')
