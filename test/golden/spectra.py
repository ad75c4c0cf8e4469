"""Makes spectra.json: eigenvalues and singular values of matrices with 60 to 129 rows by NumPy (LAPACK), in f64.

    pip install numpy && python test/golden/spectra.py > test/golden/spectra.json
"""
import json
import sys

import numpy as np


def mod(m, n):
    """Whole numbers modulo a prime: the same on both sides to the bit."""
    i, j = np.meshgrid(np.arange(m), np.arange(n), indexing="ij")
    return ((i * 7919 + j * 104729 + i * j * 31) % 1009) / 512 - 1


i, j = np.meshgrid(np.arange(60), np.arange(60), indexing="ij")
hilbert = 1 / (i + j + 1)
wilkinson = np.diag(np.abs(np.arange(101) - 50.0)) + np.diag(np.ones(100), 1) + np.diag(np.ones(100), -1)
a = mod(100, 100)
json.dump(
    {
        "eigh": {
            "mod": np.linalg.eigvalsh(np.tril(a) + np.tril(a, -1).T).tolist(),
            "wilkinson": np.linalg.eigvalsh(wilkinson).tolist(),
            "hilbert": np.linalg.eigvalsh(hilbert).tolist(),
        },
        "svd": {
            "mod": np.linalg.svd(a, compute_uv=False).tolist(),
            "tall": np.linalg.svd(mod(129, 70), compute_uv=False).tolist(),
            "hilbert": np.linalg.svd(hilbert, compute_uv=False).tolist(),
        },
    },
    sys.stdout,
)
