"""Writes mgh.json: the test problems of More, Garbow and Hillstrom (Testing unconstrained optimization software, ACM TOMS 7, 1981), the residuals at the standard starting points, the
minima that the paper gives, and what SciPy finds with exact derivatives (Jacobians by the complex step; products with the Hessian by central differences of fourth order of the gradient,
good to about 1e-10). `reached` is the number of evaluations after which the value is within 1e-8 of where the method ends, or below 1e-14.  Usage: python3 mgh.py > mgh.json"""
import json
import numpy as np
from scipy.optimize import leastsq, minimize

exp, log, sin, cos, sqrt, arctan, pi = np.exp, np.log, np.sin, np.cos, np.sqrt, np.arctan, np.pi
DATA = {
    'bard': [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39],
    'gaussian': [0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989, 0.3521, 0.2420, 0.1295, 0.0540, 0.0175, 0.0044, 0.0009],
    'meyer': [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872],
    'kowalikOsborne': [0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246],
    'osborne1': [.844, .908, .932, .936, .925, .908, .881, .850, .818, .784, .751, .718, .685, .658, .628, .603, .580, .558, .538, .522, .506, .490, .478, .467, .457, .448, .438, .431,
                 .424, .420, .414, .411, .406],
    'osborne2': [1.366, 1.191, 1.112, 1.013, .991, .885, .831, .847, .786, .725, .746, .679, .608, .655, .616, .606, .602, .626, .651, .724, .649, .649, .694, .644, .624, .661, .612, .558,
                 .533, .495, .500, .423, .395, .375, .372, .391, .396, .405, .428, .429, .523, .562, .607, .653, .672, .708, .633, .668, .645, .632, .591, .559, .597, .625, .739, .710,
                 .729, .720, .636, .581, .428, .292, .162, .098, .054],
}
count = lambda m: np.arange(1, m + 1, dtype=float)
D = {k: np.array(v, dtype=float) for k, v in DATA.items()}
cat = lambda *parts: np.concatenate([np.atleast_1d(p) for p in parts])


def helical(x):
    theta = arctan(x[1] / x[0]) / (2 * pi) + (0.5 if x[0].real < 0 else 0)
    return cat(10 * (x[2] - 10 * theta), 10 * (sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2])


def bard(x):
    u = count(15)
    v = 16 - u
    return D['bard'] - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))


def gulf(x):
    t = count(99) / 100
    z = 25 + (-50 * log(t)) ** (2 / 3) - x[1]
    return exp(-((z * np.sign(z.real)) ** x[2]) / x[0]) - t


def box3(x):
    t = count(10) / 10
    return exp(-t * x[0]) - exp(-t * x[1]) - x[2] * (exp(-t) - exp(-10 * t))


def kowalik(x):
    u = np.array([4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])
    return D['kowalikOsborne'] - x[0] * (u ** 2 + u * x[1]) / (u ** 2 + u * x[2] + x[3])


def brownDennis(x):
    t = count(20) / 5
    return (x[0] + t * x[1] - exp(t)) ** 2 + (x[2] + x[3] * sin(t) - cos(t)) ** 2


def osborne1(x):
    t = 10 * (count(33) - 1)
    return D['osborne1'] - (x[0] + x[1] * exp(-t * x[3]) + x[2] * exp(-t * x[4]))


def biggs(x):
    t = count(13) / 10
    return x[2] * exp(-t * x[0]) - x[3] * exp(-t * x[1]) + x[5] * exp(-t * x[4]) - (exp(-t) - 5 * exp(-10 * t) + 3 * exp(-4 * t))


def osborne2(x):
    t = (count(65) - 1) / 10
    bump = lambda a, b, c: x[a] * exp(-((t - x[c]) ** 2) * x[b])
    return D['osborne2'] - (x[0] * exp(-t * x[4]) + bump(1, 5, 8) + bump(2, 6, 9) + bump(3, 7, 10))


def watson(x):
    t = count(29) / 29
    n = len(x)
    powers = t[:, None] ** np.arange(n)
    return cat(powers[:, :-1] @ (np.arange(1, n) * x[1:]) - (powers @ x) ** 2 - 1, x[0], x[1] - x[0] ** 2 - 1)


extendedRosenbrock = lambda x: np.stack([10 * (x[1::2] - x[::2] ** 2), 1 - x[::2]], 1).ravel()
extendedPowell = lambda x: np.stack([x[::4] + 10 * x[1::4], sqrt(5) * (x[2::4] - x[3::4]), (x[1::4] - 2 * x[2::4]) ** 2, sqrt(10) * (x[::4] - x[3::4]) ** 2], 1).ravel()
penalty1 = lambda x: cat(sqrt(1e-5) * (x - 1), np.sum(x ** 2) - 0.25)


def penalty2(x):
    n = len(x)
    i = np.arange(2, n + 1)
    y = exp(i / 10) + exp((i - 1) / 10)
    return cat(x[0] - 0.2, sqrt(1e-5) * (exp(x[1:] / 10) + exp(x[:-1] / 10) - y), sqrt(1e-5) * (exp(x[1:] / 10) - exp(-0.1)), np.sum(np.arange(n, 0, -1) * x ** 2) - 1)


def variablyDimensioned(x):
    s = np.sum(count(len(x)) * (x - 1))
    return cat(x - 1, s, s ** 2)


trigonometric = lambda x: len(x) - np.sum(cos(x)) + count(len(x)) * (1 - cos(x)) - sin(x)
brownAlmostLinear = lambda x: cat(x[:-1] + np.sum(x) - (len(x) + 1), np.prod(x) - 1)


def boundaryValue(x):
    h = 1 / (len(x) + 1)
    padded = cat(0, x, 0)
    return 2 * x - padded[:-2] - padded[2:] + h ** 2 * (x + count(len(x)) * h + 1) ** 3 / 2


def integralEquation(x):
    n = len(x)
    t = count(n) / (n + 1)
    cubes = (x + t + 1) ** 3
    return x + ((1 - t) * (np.tril(np.ones((n, n))) @ (t * cubes)) + t * (np.triu(np.ones((n, n)), 1) @ ((1 - t) * cubes))) / (2 * (n + 1))


def broydenTridiagonal(x):
    padded = cat(0, x, 0)
    return (3 - 2 * x) * x - padded[:-2] - 2 * padded[2:] + 1


def broydenBanded(x):
    n = len(x)
    band = np.array([[1.0 if j != i and -5 <= j - i <= 1 else 0.0 for j in range(n)] for i in range(n)])
    return x * (2 + 5 * x ** 2) + 1 - band @ (x * (1 + x))


linearFull = lambda m: lambda x: cat(x, np.zeros(m - len(x))) - 2 / m * np.sum(x) - 1
linearRank1 = lambda m: lambda x: count(m) * np.sum(count(len(x)) * x) - 1
linearRank1Zeros = lambda m: lambda x: cat(np.arange(m - 1), 0) * np.sum(np.arange(2, len(x)) * x[1:-1]) - 1


def chebyquad(x):
    n = len(x)
    rows, before, now = [], np.ones(n), 2 * x - 1
    for i in range(1, n + 1):
        rows.append(np.mean(now) + (1 / (i * i - 1) if i % 2 == 0 else 0))
        before, now = now, 2 * (2 * x - 1) * now - before
    return np.array(rows)


ramp = lambda n: count(n) / (n + 1)
# name, residuals, start, minima of the sum of squares in the paper (that of the solution first, then of other local minima and of limits at infinity)
PROBLEMS = [
    ('rosenbrock', extendedRosenbrock, [-1.2, 1], [0]),
    ('freudensteinRoth', lambda x: cat(-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]), [0.5, -2], [0, 48.9842]),
    ('powellBadlyScaled', lambda x: cat(1e4 * x[0] * x[1] - 1, exp(-x[0]) + exp(-x[1]) - 1.0001), [0, 1], [0]),
    ('brownBadlyScaled', lambda x: cat(x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2), [1, 1], [0]),
    ('beale', lambda x: np.array([1.5, 2.25, 2.625]) - x[0] * (1 - x[1] ** count(3)), [1, 1], [0]),
    ('jennrichSampson', lambda x: 2 + 2 * count(10) - (exp(count(10) * x[0]) + exp(count(10) * x[1])), [0.3, 0.4], [124.362]),
    ('helicalValley', helical, [-1, 0, 0], [0]),
    ('bard', bard, [1, 1, 1], [8.21487e-3, 17.4286]),
    ('gaussian', lambda x: x[0] * exp(-x[1] * ((8 - count(15)) / 2 - x[2]) ** 2 / 2) - D['gaussian'], [0.4, 1, 0], [1.12793e-8]),
    ('meyer', lambda x: x[0] * exp(x[1] / (45 + 5 * count(16) + x[2])) - D['meyer'], [0.02, 4000, 250], [87.9458]),
    ('gulf', gulf, [5, 2.5, 0.15], [0]),
    ('box3', box3, [0, 10, 20], [0]),
    ('powellSingular', extendedPowell, [3, -1, 0, 1], [0]),
    ('wood', lambda x: cat(10 * (x[1] - x[0] ** 2), 1 - x[0], sqrt(90) * (x[3] - x[2] ** 2), 1 - x[2], sqrt(10) * (x[1] + x[3] - 2), (x[1] - x[3]) / sqrt(10)), [-3, -1, -3, -1], [0]),
    ('kowalikOsborne', kowalik, [0.25, 0.39, 0.415, 0.39], [3.07505e-4, 1.02734e-3]),
    ('brownDennis', brownDennis, [25, 5, -5, -1], [85822.2]),
    ('osborne1', osborne1, [0.5, 1.5, -1, 0.01, 0.02], [5.46489e-5]),
    ('biggs', biggs, [1, 2, 1, 1, 1, 1], [0, 5.65565e-3]),
    ('osborne2', osborne2, [1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5], [4.01377e-2]),
    ('watson6', watson, np.zeros(6), [2.28767e-3]),
    ('watson9', watson, np.zeros(9), [1.39976e-6]),
    ('watson12', watson, np.zeros(12), [4.72238e-10]),
    ('extendedRosenbrock10', extendedRosenbrock, [-1.2, 1] * 5, [0]),
    ('extendedRosenbrock100', extendedRosenbrock, [-1.2, 1] * 50, [0]),
    ('extendedPowell12', extendedPowell, [3, -1, 0, 1] * 3, [0]),
    ('extendedPowell60', extendedPowell, [3, -1, 0, 1] * 15, [0]),
    ('penalty1of4', penalty1, count(4), [2.24997e-5]),
    ('penalty1of10', penalty1, count(10), [7.08765e-5]),
    ('penalty2of4', penalty2, np.full(4, 0.5), [9.37629e-6]),
    ('penalty2of10', penalty2, np.full(10, 0.5), [2.93660e-4]),
    ('variablyDimensioned10', variablyDimensioned, 1 - count(10) / 10, [0]),
    ('variablyDimensioned40', variablyDimensioned, 1 - count(40) / 40, [0]),
    ('trigonometric10', trigonometric, np.full(10, 0.1), [0, 2.79506e-5]),
    ('trigonometric30', trigonometric, np.full(30, 1 / 30), [0, 5.6548866e-6, 9.8968410e-7]),  # the paper has no local minima for n = 30: these are SciPy's
    ('brownAlmostLinear10', brownAlmostLinear, np.full(10, 0.5), [0, 1]),
    ('brownAlmostLinear30', brownAlmostLinear, np.full(30, 0.5), [0, 1]),
    ('boundaryValue10', boundaryValue, ramp(10) * (ramp(10) - 1), [0]),
    ('boundaryValue40', boundaryValue, ramp(40) * (ramp(40) - 1), [0]),
    ('integralEquation10', integralEquation, ramp(10) * (ramp(10) - 1), [0]),
    ('integralEquation40', integralEquation, ramp(40) * (ramp(40) - 1), [0]),
    ('broydenTridiagonal10', broydenTridiagonal, -np.ones(10), [0]),
    ('broydenTridiagonal60', broydenTridiagonal, -np.ones(60), [0]),
    ('broydenBanded10', broydenBanded, -np.ones(10), [0]),
    ('broydenBanded60', broydenBanded, -np.ones(60), [0]),
    ('linearFull5of10', linearFull(10), np.ones(5), [5]),
    ('linearFull10of50', linearFull(50), np.ones(10), [40]),
    ('linearRank1of10', linearRank1(20), np.ones(10), [20 * 19 / (2 * 41)]),
    ('linearRank1Zeros10', linearRank1Zeros(20), np.ones(10), [(400 + 60 - 6) / (2 * 37)]),
    ('chebyquad7', chebyquad, ramp(7), [0]),
    ('chebyquad8', chebyquad, ramp(8), [3.51687e-3]),
    ('chebyquad9', chebyquad, ramp(9), [0]),
    ('chebyquad10', chebyquad, ramp(10), [6.50395e-3]),
]


def jacobian(f, x):
    columns = []
    for k in range(len(x)):
        z = np.array(x, dtype=complex)
        z[k] += 1e-200j
        columns.append(np.imag(f(z)) / 1e-200)
    return np.stack(columns, 1)


def boxed(x0):
    """Bounds that cut off every third number near the start, above or below in turn, and leave the others wide."""
    i = np.arange(len(x0))
    near, wide = 0.1 * (1 + np.abs(x0)), 10 * (1 + np.abs(x0))
    return x0 - np.where(i % 3 == 1, near, wide), x0 + np.where(i % 3 == 0, near, wide)


class Counted:
    """The sum of squares, and its values so far."""
    def __init__(self, residuals):
        self.residuals, self.values = residuals, []

    def __call__(self, x):
        self.values.append(float(np.sum(self.residuals(x) ** 2)))
        return self.values[-1]

    def reached(self, end):
        return next(k + 1 for k, v in enumerate(self.values) if v <= max(end * (1 + 1e-8), 1e-14))


out = []
for name, residuals, x0, minima in PROBLEMS:
    x0 = np.array(x0, dtype=float)
    value = lambda x: float(np.sum(residuals(x) ** 2))
    gradient = lambda x: 2 * jacobian(residuals, x).T @ residuals(x)

    def product(x, v):
        h = 1e-3 * max(1, np.linalg.norm(x)) / max(np.linalg.norm(v), 1e-300) if np.any(v) else 1
        at = lambda k: gradient(x + k * h * v)
        return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)

    with np.errstate(all='ignore'):
        free, within = Counted(residuals), Counted(residuals)
        b = minimize(free, x0, jac=gradient, method='L-BFGS-B', options=dict(ftol=1e-15, gtol=1e-10, maxiter=10000, maxfun=100000))
        t = minimize(value, x0, jac=gradient, hessp=product, method='trust-ncg', options=dict(gtol=1e-10, maxiter=500))
        s, _, info, _, _ = leastsq(residuals, x0, Dfun=lambda x: jacobian(residuals, x), ftol=1e-15, xtol=1e-15, gtol=1e-15, maxfev=4000, full_output=True) if len(residuals(x0)) >= len(x0) else None
        lower, upper = boxed(x0)
        w = minimize(within, x0, jac=gradient, method='L-BFGS-B', bounds=list(zip(lower, upper)), options=dict(ftol=1e-15, gtol=1e-10, maxiter=10000, maxfun=100000))
    out.append({
        'name': name, 'start': x0.tolist(), 'residuals': residuals(x0).tolist(), 'minima': minima,
        'lbfgs': {'value': b.fun, 'evaluations': int(b.nfev), 'reached': free.reached(b.fun)}, 'newton': {'value': t.fun, 'evaluations': int(t.nfev), 'gradients': int(t.njev), 'products': int(t.nhev)},
        'leastsq': {'value': value(s), 'evaluations': int(info['nfev']), 'jacobians': int(info['njev'])},
        'bounded': {'lower': lower.tolist(), 'upper': upper.tolist(), 'value': w.fun, 'evaluations': int(w.nfev), 'reached': within.reached(w.fun)},
        **({'data': DATA[name]} if name in DATA else {}),
    })
print('[\n' + ',\n'.join(json.dumps(o, separators=(',', ':')) for o in out) + '\n]')
