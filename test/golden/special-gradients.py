"""Derivatives of special functions by their shape parameters: test/golden/special-gradients.json. mpmath, differences of values with 60 digits or more."""
import json
import random
from pathlib import Path

from mpmath import exp, log, loggamma, mp, mpf, zeta

rng = random.Random(11)
STEP = mpf(10) ** -20


def uniform(low, high, n):
    return [rng.uniform(low, high) for _ in range(n)]


def scales(low, high, n):
    """Numbers of every size, 10^low to 10^high."""
    return [10 ** rng.uniform(low, high) for _ in range(n)]


def slope(f, at, i):
    """The derivative of f by its i-th argument; f is right to 60 digits, the difference to 35."""
    with mp.workdps(75):
        v = [mpf(t) for t in at]
        h = v[i] * STEP
        moved = [f(*[t + d if k == i else t for k, t in enumerate(v)]) for d in (h, -h)]
        return float((moved[0] - moved[1]) / (2 * h))


def gammainc(a, x):
    """P(a, x) by its series of positive terms; far above a, less 1: -Q by its continued fraction, by Lentz's method."""
    if x <= a + 1.37 or x < 2:
        term = total = mpf(1)
        n = 0
        while term > total * mpf(10) ** -70:
            n += 1
            term *= x / (a + n)
            total += term
        return exp(a * log(x) - x - loggamma(a + 1)) * total
    b = x + 1 - a
    f = c = b
    d, n, step = mpf(0), 0, mpf(0)
    while abs(step - 1) > mpf(10) ** -70:
        n += 1
        b += 2
        d = 1 / (b - n * (n - a) * d)
        c = b - n * (n - a) / c
        step = c * d
        f *= step
    return -exp(a * log(x) - x - loggamma(a)) / f


def below_mean(a, b, x):
    """I_x(a, b) by a series of positive terms; near 1, less 1, by that of powers of 1 - x."""
    y = 1 - x
    if y > 0.2:
        term = total = mpf(1)
        n = 0
        while term > total * mpf(10) ** -70:
            term *= (a + b + n) / (a + 1 + n) * x
            total += term
            n += 1
        return exp(a * log(x) + b * log(y) - loggamma(a + 1) - loggamma(b) + loggamma(a + b)) * total
    with mp.workdps(80 + int(a * y)):
        c = total = mpf(1)
        n = 0
        while n < a or abs(c) > mpf(10) ** -(75 + int(a * y)):
            n += 1
            c *= (n - a) * y / n
            total += b * c / (b + n)
        return -exp(b * log(y) - loggamma(b + 1) - loggamma(a) + loggamma(a + b)) * total


def betainc(a, b, x):
    """I_x(a, b), or that less 1."""
    return below_mean(a, b, x) if x <= a / (a + b) else -below_mean(b, a, 1 - x)


def pairs(a, b):
    return [list(v) for v in zip(a, b)]


def inside(a, b, spread):
    m = a / (a + b)
    return m + rng.uniform(-spread, spread) * (m * (1 - m) / (a + b + 1)) ** 0.5


gammas = pairs(scales(-2, 2, 60), scales(-2, 2, 60)) + pairs(scales(-8, 3, 40), scales(-8, 3, 40))
gammas += [[a, abs(a * (1 + rng.uniform(-5, 5) / a**0.5))] for a in scales(0, 6, 60)]
gammas += [[a, x] for a in [1e-12, 1e-3, 0.3, 1, 7.5, 19.5, 20.5] for x in [0.5, 1.05, 1.1, 1.15, 1.3, 2, 9]]
gammas += [[a, r * a] for a in [3, 20, 150.5, 999, 1001, 2e4] for r in [0.5, 0.89, 0.91, 1, 1.09, 1.11, 2]]
betas = [[a, b, rng.uniform(0, 1)] for a, b in zip(scales(-3, 1.5, 70), scales(-3, 1.5, 70))]
betas += [v for a, b in pairs(scales(0, 4, 40), scales(0, 4, 40)) for v in [[a, b, inside(a, b, 5)]] if 0 < v[2] < 1]
betas += [[a, b, x] for a, b in pairs(scales(-4, 3, 20), scales(-4, 3, 20)) for x in [10 ** rng.uniform(-15, 0), 1 - 10 ** rng.uniform(-12, -0.1)]]
betas += [[a, b, x] for a in [1, 2, 3, 30] for b in [1, 2, 3, 30] for x in [0.1, 0.45, 0.9]]
zetas = pairs([1 + v for v in scales(-6, 1.5, 70)], scales(-5, 5, 70)) + pairs(uniform(2, 60, 20), uniform(0.1, 30, 20))


def zeta_slope(s, q):
    with mp.workdps(60 + int(s * abs(log(q)) / 2)):
        return float(zeta(mpf(s), mpf(q), 1))


rows = {
    'gammaincGradA': [[*v, slope(gammainc, v, 0)] for v in gammas],
    'betaincGradA': [[*v, slope(betainc, v, 0)] for v in betas],
    'betaincGradB': [[*v, slope(betainc, v, 1)] for v in betas],
    'zetaGradS': [[*v, zeta_slope(*v)] for v in zetas],
}
Path(__file__).with_suffix('.json').write_text('{\n' + ',\n'.join(f'"{k}": {json.dumps(v, separators=(",", ":"))}' for k, v in rows.items()) + '\n}\n')
