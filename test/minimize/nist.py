"""Writes nist.json: NIST's nonlinear regression problems (StRD, https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml; in the public domain), and how SciPy's
leastsq (MINPACK's lmder, Jacobians by the complex step) solves them.  Usage: nist.py FOLDER-WITH-DAT-FILES > nist.json"""
import json, re, sys, glob, os
import numpy as np
from scipy.optimize import leastsq

pi, exp, cos, sin, arctan = np.pi, np.exp, np.cos, np.sin, np.arctan
gauss = lambda b, x: b[0] * exp(-b[1] * x) + b[2] * exp(-((x - b[3]) ** 2) / b[4] ** 2) + b[5] * exp(-((x - b[6]) ** 2) / b[7] ** 2)
lanczos = lambda b, x: b[0] * exp(-b[1] * x) + b[2] * exp(-b[3] * x) + b[4] * exp(-b[5] * x)
cubic = lambda b, x: (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3)
chwirut = lambda b, x: exp(-b[0] * x) / (b[1] + b[2] * x)
rise = lambda b, x: b[0] * (1 - exp(-b[1] * x))
MODELS = {
    'Bennett5': lambda b, x: b[0] * (b[1] + x) ** (-1 / b[2]), 'BoxBOD': rise, 'Misra1a': rise, 'Chwirut1': chwirut, 'Chwirut2': chwirut,
    'DanWood': lambda b, x: b[0] * x ** b[1],
    'ENSO': lambda b, x: b[0] + b[1] * cos(2 * pi * x / 12) + b[2] * sin(2 * pi * x / 12) + b[4] * cos(2 * pi * x / b[3]) + b[5] * sin(2 * pi * x / b[3]) + b[7] * cos(2 * pi * x / b[6]) + b[8] * sin(2 * pi * x / b[6]),
    'Eckerle4': lambda b, x: (b[0] / b[1]) * exp(-0.5 * ((x - b[2]) / b[1]) ** 2), 'Gauss1': gauss, 'Gauss2': gauss, 'Gauss3': gauss, 'Hahn1': cubic, 'Thurber': cubic,
    'Kirby2': lambda b, x: (b[0] + b[1] * x + b[2] * x**2) / (1 + b[3] * x + b[4] * x**2), 'Lanczos1': lanczos, 'Lanczos2': lanczos, 'Lanczos3': lanczos,
    'MGH09': lambda b, x: b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3]), 'MGH10': lambda b, x: b[0] * exp(b[1] / (x + b[2])),
    'MGH17': lambda b, x: b[0] + b[1] * exp(-x * b[3]) + b[2] * exp(-x * b[4]), 'Misra1b': lambda b, x: b[0] * (1 - (1 + b[1] * x / 2) ** -2),
    'Misra1c': lambda b, x: b[0] * (1 - (1 + 2 * b[1] * x) ** -0.5), 'Misra1d': lambda b, x: b[0] * b[1] * x / (1 + b[1] * x),
    'Nelson': lambda b, x: b[0] - b[1] * x[:, 0] * exp(-b[2] * x[:, 1]), 'Rat42': lambda b, x: b[0] / (1 + exp(b[1] - b[2] * x)),
    'Rat43': lambda b, x: b[0] / (1 + exp(b[1] - b[2] * x)) ** (1 / b[3]), 'Roszman1': lambda b, x: b[0] - b[1] * x - arctan(b[2] / (x - b[3])) / pi,
}
out = []
for path in sorted(glob.glob(os.path.join(sys.argv[1], '*.dat'))):
    name = os.path.basename(path)[:-4]
    text = open(path).read()
    level = re.search(r'(Lower|Average|Higher) Level', text).group(1).lower()
    rows = [[float(v) for v in m.groups()] for m in re.finditer(r'^\s*b\d+ =\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)', text, re.M)]
    squares = float(re.search(r'Residual Sum of Squares:\s+(\S+)', text).group(1))
    data = text[[m.start() for m in re.finditer(r'^Data:', text, re.M)][-1]:].splitlines()[1:]
    values = np.array([[float(v) for v in line.split()] for line in data if line.strip() and re.match(r'^[\s\d.eE+\-]+$', line)])
    y, x = values[:, 0], (values[:, 1] if values.shape[1] == 2 else values[:, 1:])
    f = MODELS[name]
    target = np.log(y) if name == 'Nelson' else y
    certified = np.array([r[2] for r in rows])
    def jac(b):
        cols = []
        for k in range(len(b)):
            z = np.array(b, dtype=complex); z[k] += 1e-200j
            cols.append(np.imag(f(z, x)) / 1e-200)
        return np.stack(cols, 1)
    scipy = []
    for k in (0, 1):
        count = [0, 0]
        def res(b):
            count[0] += 1
            return f(b, x) - target
        def jacobian(b):
            count[1] += 1
            return jac(b)
        with np.errstate(all='ignore'):
            found, *_ = leastsq(res, np.array([r[k] for r in rows]), Dfun=jacobian, ftol=1e-15, xtol=1e-15, gtol=1e-15, maxfev=4000)
            digits = float(np.min(-np.log10(np.maximum(1e-16, np.abs((found - certified) / certified)))))
        scipy.append({'digits': round(max(0, digits), 1), 'residuals': count[0], 'jacobians': count[1]})
    out.append({'name': name, 'level': level, 'x': x.tolist(), 'y': y.tolist(), 'starts': [[r[0] for r in rows], [r[1] for r in rows]], 'certified': certified.tolist(),
                'deviations': [r[3] for r in rows], 'squares': squares, 'scipy': scipy})
print('[\n' + ',\n'.join(json.dumps(o, separators=(',', ':')) for o in out) + '\n]')
