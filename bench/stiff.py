# Stiff problems by SciPy: the error at the end and the evaluations, for bench/stiff.ts. Prints JSON.
import json
import numpy as np
from scipy.integrate import solve_ivp


def robertson(t, y):
    a, b, c = y
    return [-0.04 * a + 1e4 * b * c, 0.04 * a - 1e4 * b * c - 3e7 * b * b, 3e7 * b * b]


def van_der_pol(t, y):
    return [y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]]


def hires(t, y):
    q = 280 * y[5] * y[7]
    return [
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        -q + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        q - 1.81 * y[6],
        -q + 1.81 * y[6],
    ]


problems = {
    "Robertson": (robertson, [1, 0, 0], 1e11, 1e-10),
    "van der Pol, 1000": (van_der_pol, [2, 0], 2000, 1e-9),
    "HIRES": (hires, [1, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122, 1e-9),
}
out = {}
for name, (f, y0, end, atol) in problems.items():
    exact = solve_ivp(f, [0, end], y0, method="Radau", rtol=1e-13, atol=1e-22 if name == "Robertson" else 1e-14).y[:, -1]
    row = {"exact": list(exact)}
    for method in ["Radau", "BDF"]:
        for rtol in [1e-4, 1e-6, 1e-8]:
            s = solve_ivp(f, [0, end], y0, method=method, rtol=rtol, atol=atol * rtol / 1e-6)
            error = float(np.max(np.abs(s.y[:, -1] - exact) / np.abs(exact)))
            row[f"{method} {rtol:g}"] = {"error": error, "steps": len(s.t) - 1, "calls": s.nfev, "jacobians": s.njev, "factorisations": s.nlu}
    out[name] = row
print(json.dumps(out))
