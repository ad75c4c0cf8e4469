# Minimisation by SciPy with derivatives written by hand, for bench/minimize.ts: where it ends, iterations, evaluations and the least of five times. Prints JSON.
import json
import sys
import time
import numpy as np
from scipy.optimize import least_squares, minimize, rosen, rosen_der, rosen_hess_prod

data = json.load(sys.stdin)


def timed(run):
    best = float("inf")
    for _ in range(5):
        t = time.perf_counter()
        r = run()
        best = min(best, time.perf_counter() - t)
    return r, 1e3 * best


def smooth(f, g, hessp, x0):
    rows = {}
    for method, options in [("L-BFGS-B", dict(ftol=1e-15, gtol=1e-8, maxiter=10000, maxfun=100000)), ("trust-ncg", dict(gtol=1e-8, maxiter=1000))]:
        products = [0]

        def counted(x, v):
            products[0] += 1
            return hessp(x, v)

        r, ms = timed(lambda: minimize(f, x0, jac=g, hessp=counted if method == "trust-ncg" else None, method=method, options=options))
        rows[method] = dict(value=float(r.fun), steps=int(r.nit), values=int(r.nfev), gradients=int(r.njev), products=products[0] // 5, ms=ms)
    return rows


out = {}
for n in [20, 100]:
    out[f"Rosenbrock, {n} numbers"] = smooth(rosen, rosen_der, rosen_hess_prod, np.where(np.arange(n) % 2 == 0, -1.2, 1.0))

X, s = np.array(data["x"]).reshape(data["rows"], -1), np.array(data["signs"])
sigmoid = lambda z: 1 / (1 + np.exp(-z))
logistic = lambda w: np.sum(np.logaddexp(0, -s * (X @ w))) + 0.5 * w @ w
logistic_der = lambda w: -X.T @ (s * sigmoid(-s * (X @ w))) + w


def logistic_product(w, v):
    p = sigmoid(X @ w)
    return X.T @ (p * (1 - p) * (X @ v)) + v


out["a logistic regression, 2000 rows, 50 columns"] = smooth(logistic, logistic_der, logistic_product, np.zeros(X.shape[1]))

t, y = np.array(data["t"]), np.array(data["y"])
decays = lambda p: p[0] * np.exp(-p[1] * t) + p[2] * np.exp(-p[3] * t) - y


def decays_jac(p):
    a, b = np.exp(-p[1] * t), np.exp(-p[3] * t)
    return np.stack([a, -p[0] * t * a, b, -p[2] * t * b], 1)


r, ms = timed(lambda: least_squares(decays, [1, 1, 1, 0.1], jac=decays_jac, method="lm", xtol=1e-12, ftol=1e-12, gtol=1e-12))
out["a sum of two decays, 200 points"] = {"least_squares, lm": dict(value=float(r.cost), steps=int(r.njev), values=int(r.nfev), gradients=int(r.njev), products=0, ms=ms)}
r, ms = timed(lambda: least_squares(decays, [1, 1, 1, 0.1], jac=decays_jac, method="trf", xtol=1e-12, ftol=1e-12, gtol=1e-12))
out["a sum of two decays, 200 points"]["least_squares, trf"] = dict(value=float(r.cost), steps=int(r.njev), values=int(r.nfev), gradients=int(r.njev), products=0, ms=ms)

C, mu = np.array(data["covariance"]).reshape(len(data["mu"]), -1), np.array(data["mu"])
n = len(mu)


def slsqp(f, g, x0, constraints, bounds=None):
    r, ms = timed(lambda: minimize(f, x0, jac=g, method="SLSQP", bounds=bounds, constraints=constraints, options=dict(ftol=1e-12, maxiter=1000)))
    return {"SLSQP": dict(value=float(r.fun), steps=int(r.nit), values=int(r.nfev), gradients=int(r.njev), products=0, ms=ms)}


out["a portfolio of 50 assets"] = slsqp(
    lambda w: 0.5 * w @ C @ w, lambda w: C @ w, np.full(n, 1 / n),
    [dict(type="eq", fun=lambda w: np.sum(w) - 1, jac=lambda w: np.ones(n)), dict(type="ineq", fun=lambda w: mu @ w - data["wanted"], jac=lambda w: mu)],
    [(0, None)] * n)
out["Hock and Schittkowski 100"] = slsqp(
    lambda x: (x[0] - 10) ** 2 + 5 * (x[1] - 12) ** 2 + x[2] ** 4 + 3 * (x[3] - 11) ** 2 + 10 * x[4] ** 6 + 7 * x[5] ** 2 + x[6] ** 4 - 4 * x[5] * x[6] - 10 * x[5] - 8 * x[6],
    lambda x: np.array([2 * (x[0] - 10), 10 * (x[1] - 12), 4 * x[2] ** 3, 6 * (x[3] - 11), 60 * x[4] ** 5, 14 * x[5] - 4 * x[6] - 10, 4 * x[6] ** 3 - 4 * x[5] - 8]),
    np.array([1, 2, 0, 4, 0, 1, 1.0]),
    [dict(type="ineq",
          fun=lambda x: -np.array([2 * x[0] ** 2 + 3 * x[1] ** 4 + x[2] + 4 * x[3] ** 2 + 5 * x[4] - 127, 7 * x[0] + 3 * x[1] + 10 * x[2] ** 2 + x[3] - x[4] - 282,
                                   23 * x[0] + x[1] ** 2 + 6 * x[5] ** 2 - 8 * x[6] - 196, 4 * x[0] ** 2 + x[1] ** 2 - 3 * x[0] * x[1] + 2 * x[2] ** 2 + 5 * x[5] - 11 * x[6]]),
          jac=lambda x: -np.array([[4 * x[0], 12 * x[1] ** 3, 1, 8 * x[3], 5, 0, 0], [7, 3, 20 * x[2], 1, -1, 0, 0], [23, 2 * x[1], 0, 0, 0, 12 * x[5], -8],
                                   [8 * x[0] - 3 * x[1], 2 * x[1] - 3 * x[0], 4 * x[2], 0, 0, 5, -11]]))])
print(json.dumps(out))
