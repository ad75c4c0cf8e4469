"""Values of the special functions with 40 digits or more, rounded once: test/golden/special.json. mpmath 1.4."""
import json
import random
from pathlib import Path

from mpmath import (
    besseli, besselj, beta, betainc, digamma, erf, erfc, erfinv, exp, findroot, gammainc, inf, isinf, isnan, loggamma, log, mp, mpf, nan, ncdf, nsum,
    power, sin, pi, sqrt, zeta,
)  # fmt: skip

mp.dps = 50
rng = random.Random(7)


def uniform(low, high, n):
    return [rng.uniform(low, high) for _ in range(n)]


def scales(low, high, n):
    """Numbers of every size, 10^low to 10^high."""
    return [10 ** rng.uniform(low, high) for _ in range(n)]


def text(v):
    v = float(v)
    return 'NaN' if v != v else ('Infinity' if v > 0 else '-Infinity') if v in (float('inf'), float('-inf')) else v


def tail(q):
    """erfcinv of a small q, by Newton's method on the logarithm."""
    y = sqrt(-log(q))
    y = sqrt(y * y - log(max(y, mpf(1)) * sqrt(pi))) if y > 1.5 else y * mpf('0.6')
    for _ in range(100):
        step = (log(erfc(y)) - log(q)) / (-2 / sqrt(pi) * exp(-y * y) / erfc(y))
        y -= step
        if abs(step) < mpf(10) ** -45:
            return y
    raise ValueError(q)


def erfcinv(q):
    q = mpf(q)
    return tail(q) if q < 0.3 else -tail(2 - q) if q > 1.7 else erfinv(1 - q)


def erfinv_(x):
    return erfcinv(1 - mpf(x)) if x > 0.7 else -erfcinv(1 + mpf(x)) if x < -0.7 else erfinv(mpf(x))


def lower(a, x):
    """P(a, x) by its series of positive terms, or 1 - Q."""
    a, x = mpf(a), mpf(x)
    with mp.workdps(80):
        if x > a + 1:
            return 1 - upper(a, x)
        term, total, n = mpf(1), mpf(1), 0
        while term > total * mpf(10) ** -75:
            n += 1
            term *= x / (a + n)
            total += term
        return exp(a * log(x) - x - loggamma(a + 1)) * total


def upper(a, x):
    with mp.workdps(80):
        a, x = mpf(a), mpf(x)
        if x > a + 1 and a > 50:
            # the continued fraction, from far out
            f = mpf(0)
            for n in range(3000, 0, -1):
                f = -n * (n - a) / (x + 2 * n + 1 - a + f)
            return exp(a * log(x) - x - loggamma(a)) / (x + 1 - a + f)
        if x <= a + 1:
            return 1 - lower(a, x)
        return gammainc(a, x, inf, regularized=True)


def betainc_(a, b, x):
    with mp.workdps(80):
        a, b, x = mpf(a), mpf(b), mpf(x)
        if x > (a + 1) / (a + b + 2):
            return 1 - betainc_(b, a, 1 - x)
        front = exp(a * log(x) + b * log(1 - x) - loggamma(a) - loggamma(b) + loggamma(a + b)) / a
        # I_x(a, b) = front (1 + sum of (a+b)_n+1 / (a+1)_n+1 x^n+1), positive terms
        term, total, n = mpf(1), mpf(1), 0
        while term > total * mpf(10) ** -75:
            term *= (a + b + n) / (a + 1 + n) * x
            total += term
            n += 1
        return front * total


SMALL = [5e-324, 1e-310, 1e-300, 1e-20]
EDGE = 0.9999999999999999
one = {
    'erfinv': (erfinv_, uniform(-1, 1, 60) + scales(-20, 0, 20) + [1 - v for v in scales(-16, 0, 25)] + SMALL + [EDGE, -EDGE, 0.75, 0.5]),
    'erfcinv': (erfcinv, uniform(0, 2, 40) + scales(-323, 0, 60) + [2 - v for v in scales(-15, 0, 20)] + [5e-324, 1e-310, 0.25, 1.75]),
    'erfcx': (
        lambda x: exp(mpf(x) ** 2) * erfc(mpf(x)) if x < 100 else mp.quad(lambda t: exp(-t * t / (4 * mpf(x) ** 2) - t), [0, 1, 10, 120]) / (mpf(x) * sqrt(pi)),
        uniform(-26, 3, 40) + uniform(-1, 1, 20) + uniform(0, 60, 20) + scales(2, 300, 10) + SMALL,
    ),
    'ndtr': (lambda x: erfc(-mpf(x) / sqrt(mpf(2))) / 2, uniform(-38, 0, 50) + uniform(-2, 2, 40) + uniform(0, 9, 20) + SMALL),
    'ndtri': (lambda p: -sqrt(mpf(2)) * erfcinv(2 * mpf(p)), uniform(0, 1, 60) + scales(-322, 0, 40) + [1 - v for v in scales(-15, 0, 15)]),
    'logNdtr': (
        lambda x: log(erfc(-mpf(x) / sqrt(mpf(2))) / 2) if x < 5 else mp.log1p(-erfc(mpf(x) / sqrt(mpf(2))) / 2),
        uniform(-40, 0, 40) + uniform(-2, 2, 40) + uniform(0, 38, 30) + [-v for v in scales(1, 4, 10)] + SMALL,
    ),
    'j0': (lambda x: besselj(0, mpf(x)), uniform(-30, 30, 60) + uniform(0, 9, 40) + scales(-10, 5, 25) + [2.404825557695773, 5.520078110286311]),
    'j1': (lambda x: besselj(1, mpf(x)), uniform(-30, 30, 60) + uniform(0, 9, 40) + scales(-10, 5, 25) + [3.8317059702075125]),
    'i0': (lambda x: besseli(0, mpf(x)), uniform(-20, 20, 50) + uniform(0, 713, 30) + scales(-10, 1, 15)),
    'i1': (lambda x: besseli(1, mpf(x)), uniform(-20, 20, 50) + uniform(0, 713, 30) + scales(-10, 1, 15) + SMALL),
    'i0e': (lambda x: exp(-abs(mpf(x))) * besseli(0, mpf(x)), uniform(-20, 20, 50) + uniform(0, 1000, 20) + scales(-10, 8, 15)),
    'i1e': (lambda x: exp(-abs(mpf(x))) * besseli(1, mpf(x)), uniform(-20, 20, 50) + uniform(0, 1000, 20) + scales(-10, 8, 15) + SMALL),
    'sinc': (
        lambda x: 1 if x == 0 else sin(pi * mpf(x)) / (pi * mpf(x)),
        uniform(-1, 1, 40) + uniform(-9, 9, 30) + uniform(-1e5, 1e5, 10) + [1 + v for v in scales(-12, -1, 10)] + SMALL,
    ),
    'logit': (lambda p: log(mpf(p) / (1 - mpf(p))), uniform(0, 1, 50) + scales(-322, -1, 20) + [0.5 + v for v in scales(-15, -1, 20)] + [EDGE]),
    'entr': (lambda x: -mpf(x) * log(mpf(x)), uniform(0, 3, 40) + scales(-300, 2, 30) + [1 + v for v in scales(-12, -1, 15)]),
}
pairs = lambda a, b: [list(v) for v in zip(a, b)]  # noqa: E731
moderate = pairs(scales(-2, 2, 90), scales(-2, 2, 90))
near = [[a, a * (1 + rng.uniform(-3, 3) / a**0.5)] for a in scales(0, 4.5, 60)]
far = pairs(scales(-8, 3, 40), scales(-8, 3, 40))
large = [[a, a * (1 + rng.uniform(-5, 5) / a**0.5)] for a in scales(4, 6, 12)]
gammas = [[a, abs(x)] for a, x in moderate + near + far + large]
betas = pairs(scales(-3, 3, 120), scales(-3, 3, 120)) + pairs(uniform(0.2, 12, 60), uniform(0.2, 12, 60))
two = {
    'gammainc': (lower, gammas),
    'gammaincc': (upper, gammas),
    'beta': (beta, betas),
    'betaln': (lambda a, b: loggamma(mpf(a)) + loggamma(mpf(b)) - loggamma(mpf(a) + mpf(b)), betas + pairs(scales(0, 12, 30), scales(0, 12, 30))),
    'zeta': (
        lambda s, q: zeta(mpf(s), mpf(q)),
        pairs([1 + v for v in scales(-3, 1.3, 70)], scales(-2, 2, 70)) + pairs(uniform(2, 60, 20), uniform(0.1, 30, 20)),
    ),
    'xlog1py': (lambda x, y: mpf(x) * mp.log1p(mpf(y)), pairs(uniform(-3, 3, 40), [v - 1 for v in scales(-8, 2, 40)])),
    'relEntr': (lambda x, y: mpf(x) * log(mpf(x) / mpf(y)), pairs(uniform(0, 3, 40), uniform(0, 3, 40)) + pairs(scales(-200, 200, 15), scales(-200, 200, 15)) + [[x, x * (1 + v)] for x, v in zip(uniform(0.1, 9, 15), scales(-12, -1, 15))]),
    'klDiv': (lambda x, y: mpf(x) * log(mpf(x) / mpf(y)) - mpf(x) + mpf(y), pairs(uniform(0, 3, 40), uniform(0, 3, 40))),
}  # fmt: skip
triples = [[a, b, rng.uniform(0, 1)] for a, b in zip(scales(-2, 1.3, 90), scales(-2, 1.3, 90))]
for a, b in zip(scales(0, 4, 60), scales(0, 4, 60)):
    m = a / (a + b)
    x = m + rng.uniform(-4, 4) * (m * (1 - m) / (a + b + 1)) ** 0.5
    if 0 < x < 1:
        triples.append([a, b, x])
three = {'betainc': (betainc_, triples)}

rows = {}
for name, (f, xs) in one.items():
    rows[name] = [[x, text(f(x))] for x in xs]
for name, (f, xs) in {**two, **three}.items():
    rows[name] = [[*x, text(f(*x))] for x in xs]
Path(__file__).with_suffix('.json').write_text('{\n' + ',\n'.join(f'"{k}": {json.dumps(v, separators=(",", ":"))}' for k, v in rows.items()) + '\n}\n')
