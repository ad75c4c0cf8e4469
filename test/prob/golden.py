"""Densities, their gradients, distribution functions, quantiles and moments by SciPy and mpmath: python3 golden.py > golden.json.

Each row: log densities by formulae of mpmath with 40 digits, written apart from those of the library, and their derivatives by differences there;
distribution functions, quantiles, moments and entropies by SciPy.
"""
import json, math
import numpy as np
from scipy import stats
import mpmath as mp

mp.mp.dps = 40
pi, exp, log, gamma, sqrt = mp.pi, mp.exp, mp.log, mp.gamma, mp.sqrt


def phi(z):
    return exp(-z * z / 2) / sqrt(2 * pi)


def Phi(z):
    return mp.erfc(-z / sqrt(2)) / 2


def choose(n, k):
    return mp.binomial(n, k)


rows = []


def row(name, params, dist, density, q=(1e-6, 0.02, 0.3, 0.5, 0.8, 0.99, 1 - 1e-6), x=None, discrete=False, **more):
    """density(x, *params) by mpmath; dist is SciPy's."""
    xs = [float(v) for v in (x if x is not None else dist.ppf(q))]
    if discrete:
        xs = sorted(set(xs))
    logs, dx, dp = [], [], []
    ps = [mp.mpf(p) for p in params]
    for v in xs:
        f = lambda t, *p: log(density(t, *p))
        logs.append(float(f(mp.mpf(v), *ps)))
        dx.append(None if discrete else float(mp.diff(lambda t: f(t, *ps), mp.mpf(v), h=mp.mpf(10) ** -15 * (abs(mp.mpf(v)) or 1))))
        grads = []
        for i in range(len(ps)):
            if i in more.get("constants", ()):
                grads.append(None)
                continue
            g = lambda t: f(mp.mpf(v), *ps[:i], t, *ps[i + 1 :])
            grads.append(float(mp.diff(g, ps[i], h=mp.mpf(10) ** -15 * (abs(ps[i]) or 1))))
        dp.append(grads)
    r = {"name": name, "params": list(params), "x": xs, "logProb": logs, "dx": dx, "dp": dp}
    if dist is not None:
        qs = [1e-8, 0.01, 0.25, 0.5, 0.75, 0.99] if not discrete else [0.01, 0.25, 0.5, 0.75, 0.99]
        r["cdf"] = [float(v) for v in dist.cdf(xs)]
        r["logSurvival"] = [float(v) for v in dist.logsf(xs)]
        r["q"] = qs
        r["icdf"] = [float(v) for v in dist.ppf(qs)]
        mean, var = (float(v) for v in dist.stats("mv"))
        r["mean"], r["variance"] = mean, var
        try:
            # SciPy sums over all of a support.
            if "entropy" not in more:
                r["entropy"] = float(dist.entropy())
        except Exception:
            pass
    for k in ("cdf", "logSurvival", "icdf", "mean", "variance", "entropy"):
        if k in more:
            r[k] = more[k]
    rows.append(r)


s = stats
row("normal", [0.7, 1.3], s.norm(0.7, 1.3), lambda x, m, d: phi((x - m) / d) / d)
row("laplace", [0.7, 1.3], s.laplace(0.7, 1.3), lambda x, m, d: exp(-abs(x - m) / d) / (2 * d), q=(1e-6, 0.02, 0.3, 0.55, 0.8, 0.99))
row("asymmetricLaplace", [0.7, 1.3, 1.8], s.laplace_asymmetric(1.8, 0.7, 1.3),
    lambda x, m, d, k: (exp(-k * (x - m) / d) if x > m else exp((x - m) / (k * d))) / (d * (k + 1 / k)))
row("logistic", [0.7, 1.3], s.logistic(0.7, 1.3), lambda x, m, d: exp(-(x - m) / d) / (d * (1 + exp(-(x - m) / d)) ** 2))
row("cauchy", [0.7, 1.3], s.cauchy(0.7, 1.3), lambda x, m, d: 1 / (pi * d * (1 + ((x - m) / d) ** 2)))
row("gumbel", [0.7, 1.3], s.gumbel_r(0.7, 1.3), lambda x, m, d: exp(-(x - m) / d - exp(-(x - m) / d)) / d)
student = lambda x, v, m, d: gamma((v + 1) / 2) / (sqrt(v * pi) * gamma(v / 2)) * (1 + ((x - m) / d) ** 2 / v) ** (-(v + 1) / 2) / d
row("studentT", [3.5, 0.7, 1.3], s.t(3.5, 0.7, 1.3), student)
row("studentT", [0.8, 0, 1], s.t(0.8), student, q=(1e-3, 0.3, 0.6, 0.99), mean=math.nan, variance=math.nan)
row("studentT", [60, 0, 1], s.t(60), student)
skew = lambda x, m, d, a: 2 * phi((x - m) / d) * Phi(a * (x - m) / d) / d
# SciPy's distribution function loses digits in the tail, and its quantiles are solved for: here both are integrals.
for params, xs in (([0.7, 1.3, -2], [-5, -1.5, 0, 0.7, 1.1, 2.5]), ([0, 1, 0.3], [-6, -1, 0.4, 5]), ([0, 1, 40], [-0.2, -0.01, 0, 0.01, 0.5, 4, 8])):
    m, d, a = map(mp.mpf, params)
    at = [mp.mpf(v) for v in xs]
    part = lambda lo, hi: mp.quad(lambda t: skew(t, m, d, a), mp.linspace(lo, hi, 33))
    row("skewNormal", params, s.skewnorm(params[2], params[0], params[1]), skew, x=xs, icdf=None, entropy=None, cdf=[float(part(v - 16 * d, v)) for v in at],
        logSurvival=[float(log(part(v, v + 16 * d))) for v in at])
row("uniform", [-1, 2.5], s.uniform(-1, 3.5), lambda x, a, b: 1 / (b - a), q=(0.1, 0.5, 0.9))
row("triangular", [-1, 0.5, 3], s.triang(1.5 / 4, -1, 4),
    lambda x, a, c, b: 2 * (x - a) / ((b - a) * (c - a)) if x < c else 2 * (b - x) / ((b - a) * (b - c)), q=(0.01, 0.2, 0.6, 0.9))
tn = lambda x, m, d, a, b: phi((x - m) / d) / d / (Phi((b - m) / d) - Phi((a - m) / d))
for m, d, a, b in ([0.5, 2, -1, 4], [0, 1, 1, 2], [0, 1, -3, -2.5], [1, 2, 12, 14]):
    # Moments by quadrature: SciPy's lose half of their digits where the bounds are far out.
    f = lambda x: tn(x, mp.mpf(m), mp.mpf(d), mp.mpf(a), mp.mpf(b))
    whole = lambda g: mp.quad(lambda x: g(x) * f(x), mp.linspace(a, b, 9))
    tm = whole(lambda x: x)
    row("truncatedNormal", [m, d, a, b], s.truncnorm((a - m) / d, (b - m) / d, m, d), tn, q=(0.01, 0.3, 0.9), mean=float(tm), variance=float(whole(lambda x: (x - tm) ** 2)), entropy=float(-whole(lambda x: log(f(x)))))

row("exponential", [1.7], s.expon(scale=1 / 1.7), lambda x, r: r * exp(-r * x))
gam = lambda x, a, r: r**a * x ** (a - 1) * exp(-r * x) / gamma(a)
row("gamma", [2.5, 1.7], s.gamma(2.5, scale=1 / 1.7), gam)
row("gamma", [0.3, 0.5], s.gamma(0.3, scale=2), gam)
row("gamma", [150, 3], s.gamma(150, scale=1 / 3), gam)
row("chi2", [3.5], s.chi2(3.5), lambda x, v: gam(x, v / 2, mp.mpf(1) / 2))
row("inverseGamma", [3.2, 1.7], s.invgamma(3.2, scale=1.7), lambda x, a, b: b**a * x ** (-a - 1) * exp(-b / x) / gamma(a))
row("logNormal", [0.3, 0.8], s.lognorm(0.8, scale=math.exp(0.3)), lambda x, m, d: phi((log(x) - m) / d) / (d * x))
row("halfNormal", [1.3], s.halfnorm(0, 1.3), lambda x, d: 2 * phi(x / d) / d, icdf=[float(mp.mpf(1.3) * sqrt(2) * mp.erfinv(mp.mpf(v))) for v in [1e-8, 0.01, 0.25, 0.5, 0.75, 0.99]])
row("halfCauchy", [1.3], s.halfcauchy(0, 1.3), lambda x, d: 2 / (pi * d * (1 + (x / d) ** 2)))
row("maxwell", [1.3], s.maxwell(0, 1.3), lambda x, d: sqrt(2 / pi) * x**2 * exp(-(x**2) / (2 * d**2)) / d**3)
row("levy", [1.3], s.levy(0, 1.3), lambda x, c: sqrt(c / (2 * pi)) * x ** (-mp.mpf(3) / 2) * exp(-c / (2 * x)), q=(1e-6, 0.02, 0.3, 0.8, 0.99))
row("inverseGaussian", [1.4, 2.2], s.invgauss(1.4 / 2.2, scale=2.2), lambda x, m, l: sqrt(l / (2 * pi * x**3)) * exp(-l * (x - m) ** 2 / (2 * m**2 * x)), entropy=None)
row("weibull", [1.3, 1.8], s.weibull_min(1.8, scale=1.3), lambda x, l, k: k / l * (x / l) ** (k - 1) * exp(-((x / l) ** k)))
row("rayleigh", [1.3], s.rayleigh(0, 1.3), lambda x, d: x / d**2 * exp(-(x**2) / (2 * d**2)))
row("pareto", [1.3, 2.7], s.pareto(2.7, scale=1.3), lambda x, m, a: a * m**a / x ** (a + 1))
row("logUniform", [0.5, 20], s.loguniform(0.5, 20), lambda x, a, b: 1 / (x * log(b / a)), q=(0.01, 0.5, 0.9))
row("fisherF", [3.5, 6.2], s.f(3.5, 6.2),
    lambda x, a, b: (a / b) ** (a / 2) * x ** (a / 2 - 1) * (1 + a * x / b) ** (-(a + b) / 2) / mp.beta(a / 2, b / 2))

bet = lambda x, a, b: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)
row("beta", [2.5, 1.7], s.beta(2.5, 1.7), bet)
row("beta", [0.4, 0.6], s.beta(0.4, 0.6), bet, q=(0.02, 0.3, 0.8, 0.95))
row("beta", [120, 80], s.beta(120, 80), bet)
a, b = mp.mpf("2.5"), mp.mpf("1.7")
kum = lambda x, a, b: a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)
kx = [0.05, 0.3, 0.6, 0.95]
km = mp.quad(lambda x: x * kum(x, a, b), [0, 0.5, 1])
row("kumaraswamy", [2.5, 1.7], None, kum, x=kx, cdf=[float(1 - (1 - mp.mpf(v) ** a) ** b) for v in kx], mean=float(km),
    variance=float(mp.quad(lambda x: (x - km) ** 2 * kum(x, a, b), [0, 0.5, 1])),
    entropy=float(-mp.quad(lambda x: kum(x, a, b) * log(kum(x, a, b)), [0, 0.5, 1])))
vm = lambda x, m, k: exp(k * mp.cos(x - m)) / (2 * pi * mp.besseli(0, k))
for m, k in ([0.4, 2.3], [-2.5, 0.05], [0, 400]):
    vx = [-3, -1, 0.1, 1.5, 3] if k < 100 else [-0.2, -0.01, 0.05, 0.1]
    cdf = [float(mp.quad(lambda t: vm(t, mp.mpf(m), mp.mpf(k)), mp.linspace(-pi if k < 100 else -1, v, 12))) for v in vx]
    row("vonMises", [m, k], None, vm, x=vx, cdf=cdf, entropy=float(s.vonmises(k).entropy()))

d = dict(discrete=True)
row("bernoulli", [0.3], s.bernoulli(0.3), lambda k, p: p if k == 1 else 1 - p, x=[0, 1], **d)
bino = lambda k, n, p: choose(n, k) * p**k * (1 - p) ** (n - k)
row("binomial", [12, 0.3], s.binom(12, 0.3), bino, x=range(13), constants=(0,), entropy=None, **d)
row("binomial", [5000, 0.01], s.binom(5000, 0.01), bino, x=[20, 45, 50, 80, 300], constants=(0,), entropy=None, **d)
large = lambda k, n, p: exp(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1) + k * log(p) + (n - k) * mp.log1p(-p))
# 1 - p has not the digits of p: sums in place of SciPy's numbers.
for n, prob, xs in ((2000000000, 1e-9, (0, 1, 3, 8)), (2000000000, 5e-8, (60, 70, 110)), (1000000, 1e-5, (0, 3, 12))):
    below = [mp.fsum(large(mp.mpf(k), mp.mpf(n), mp.mpf(prob)) for k in range(x + 1)) for x in xs]
    row("binomial", [n, prob], None, large, x=xs, constants=(0,), cdf=[float(v) for v in below], logSurvival=[float(log(1 - v)) for v in below], **d)
b, bx = s.binom(100000000, 0.01), [997500, 999000, 1000300, 1002000]
row("binomial", [100000000, 0.01], None, large, x=bx, constants=(0,), cdf=[float(v) for v in b.cdf(bx)], logSurvival=[float(v) for v in b.logsf(bx)], **d)
row("betaBinomial", [12, 2.5, 1.7], s.betabinom(12, 2.5, 1.7), lambda k, n, a, b: choose(n, k) * mp.beta(k + a, n - k + b) / mp.beta(a, b), x=range(13), constants=(0,), entropy=None, **d)
hyper = lambda k, t, m, n: choose(m, k) * choose(t - m, n - k) / choose(t, n)
row("hypergeometric", [20, 7, 12], s.hypergeom(20, 7, 12), hyper, x=range(8), constants=(0, 1, 2), entropy=None, **d)
hx = [180, 230, 240, 255, 290]
row("hypergeometric", [5000, 4000, 300], s.hypergeom(5000, 4000, 300), hyper, x=hx, constants=(0, 1, 2), entropy=None,
    logSurvival=[float(log(mp.fsum(hyper(mp.mpf(k), 5000, 4000, 300) for k in range(v + 1, 301)))) for v in hx], **d)
row("negativeBinomial", [2.5, 0.3], s.nbinom(2.5, 0.3), lambda k, n, p: gamma(k + n) / (gamma(n) * gamma(k + 1)) * p**n * (1 - p) ** k, x=[0, 1, 4, 20, 60], entropy=None, **d)
row("geometric", [0.3], s.geom(0.3), lambda k, p: p * (1 - p) ** (k - 1), x=[1, 2, 5, 30], **d)
for rate in (0.4, 37.5):
    row("poisson", [rate], s.poisson(rate), lambda k, r: r**k * exp(-r) / gamma(k + 1), x=[0, 1, 3, 30, 60], entropy=None, **d)
row("discreteUniform", [-2, 5], s.randint(-2, 6), lambda k, a, b: 1 / (b - a + 1), x=[-2, 0, 5], constants=(0, 1), **d)

# What is far out: logProb alone.
far = [
    ["normal", [0, 1], [1e6, -1e6]],
    ["logistic", [0, 1], [1000, -1000]],
    ["cauchy", [0, 1], [1e150, -1e200]],
    ["studentT", [3, 0, 1], [1e150, -1e200]],
    ["truncatedNormal", [0, 1, 50, 51], [50.01, 50.5]],
    ["gamma", [2, 1], [1e-300, 5000]],
    ["skewNormal", [0, 1, 5], [-10, -40]],
]
formulae = {
    "normal": lambda x, m, d: -((x - m) / d) ** 2 / 2 - log(d * sqrt(2 * pi)),
    "logistic": lambda x, m, d: -(x - m) / d - 2 * log(1 + exp(-(x - m) / d)) - log(d),
    "cauchy": lambda x, m, d: log(1 / (pi * d * (1 + ((x - m) / d) ** 2))),
    "studentT": lambda x, v, m, d: log(student(x, v, m, d)),
    "truncatedNormal": lambda x, m, d, a, b: log(tn(-x, m, d, -b, -a)),
    "gamma": lambda x, a, r: log(gam(x, a, r)),
    "skewNormal": lambda x, m, d, a: log(2 * phi((x - m) / d)) + log(Phi(a * (x - m) / d)) - log(d),
}
tails = [{"name": n, "params": p, "x": x, "logProb": [float(formulae[n](mp.mpf(v), *map(mp.mpf, p))) for v in x]} for n, p, x in far]

# Vectors and matrices: values of SciPy.
vectors = {}
A = np.array([[2, 0.3, -0.5], [0.3, 1.5, 0.2], [-0.5, 0.2, 1]])
m = np.array([0.5, -1, 2])
xs = np.array([[0, 0, 0], [1, -1, 2.5], [4, 2, -3]], float)
vectors["mvNormal"] = {"mean": m.tolist(), "covariance": A.tolist(), "x": xs.tolist(), "logProb": s.multivariate_normal(m, A).logpdf(xs).tolist(), "entropy": float(s.multivariate_normal(m, A).entropy())}
vectors["mvStudentT"] = {"df": 4.5, "logProb": s.multivariate_t(m, A, df=4.5).logpdf(xs).tolist()}
al = np.array([0.8, 2.5, 1.2])
xd = np.array([[0.2, 0.3, 0.5], [0.01, 0.98, 0.01]])
vectors["dirichlet"] = {"alpha": al.tolist(), "x": xd.tolist(), "logProb": [float(s.dirichlet(al).logpdf(v)) for v in xd], "entropy": float(s.dirichlet(al).entropy()), "mean": s.dirichlet(al).mean().tolist(), "variance": s.dirichlet(al).var().tolist()}
pm = [0.2, 0.5, 0.3]
xm = [[2, 5, 3], [0, 10, 0], [10, 0, 0]]
vectors["multinomial"] = {"n": 10, "p": pm, "x": xm, "logProb": [float(s.multinomial(10, pm).logpmf(v)) for v in xm]}
vectors["dirichletMultinomial"] = {"n": 10, "alpha": al.tolist(), "x": xm, "logProb": [float(s.dirichlet_multinomial(al, 10).logpmf(v)) for v in xm]}
W = np.array([[1.2, 0.1, -0.2], [0.1, 0.8, 0.05], [-0.2, 0.05, 2.0]])
vectors["wishart"] = {"df": 5.5, "scale": A.tolist(), "x": W.tolist(), "logProb": float(s.wishart(5.5, A).logpdf(W)), "mean": s.wishart(5.5, A).mean().tolist(), "variance": s.wishart(5.5, A).var().tolist()}


def clean(x):
    if isinstance(x, float):
        return None if math.isnan(x) else ("Infinity" if x == math.inf else "-Infinity" if x == -math.inf else x)
    if isinstance(x, dict):
        return {k: clean(v) for k, v in x.items() if v is not None}
    if isinstance(x, (list, tuple)):
        return [clean(v) for v in x]
    return x


out = {"rows": rows, "tails": tails, "vectors": vectors}
text = json.dumps(clean(out), separators=(",", ":"))
print(text.replace('{"name"', '\n{"name"'))
