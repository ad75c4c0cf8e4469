"""Makes draws.json: keys, bits and distributions by JAX, f32 and f64 (x64); gradients of gamma numbers by mpmath.

    pip install jax numpy mpmath && python test/golden/draws.py > test/golden/draws.json
"""
import json
import sys

import jax
import mpmath
import numpy as np

jax.config.update('jax_enable_x64', True)
import jax.numpy as jnp  # noqa: E402

R = jax.random
SEEDS = [0, 1, 2, 42, 1234567, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 5, 2**53 - 1]
N = 1000


def words(key):
    return np.asarray(R.key_data(key)).astype(np.uint32).astype(np.int32).tolist()


def checksum(xs):
    """FNV-1a over 32-bit words."""
    h = 0x811C9DC5
    for x in np.asarray(xs).astype(np.uint64).ravel().tolist():
        h = ((h ^ (x & 0xFFFFFFFF)) * 0x01000193) & 0xFFFFFFFF
    return h


def of_key(seed):
    k = R.key(seed)
    bits = np.asarray(R.bits(k, (N,), 'uint32'))
    single = np.asarray(R.uniform(k, (N,), jnp.float32)).astype(np.float64)
    double = np.asarray(R.uniform(k, (N,), jnp.float64))
    whole = [int(x) for x in double * 2**52]
    return {
        'seed': seed,
        'key': words(k),
        'first': bits[:3].astype(np.int32).tolist(),
        'bits': checksum(bits),
        'matrix': checksum(np.asarray(R.bits(k, (3, 5, 2), 'uint32'))),
        'f32': checksum(single * 2**23),
        'f64': checksum(np.array([[x >> 32, x & 0xFFFFFFFF] for x in whole])),
        'split': words(R.split(k, 5)),
        'foldIn': [words(R.fold_in(k, i)) for i in (0, 1, 99, 2**32 - 1)],
        'randint': [np.asarray(R.randint(k, (4,), a, b, jnp.int32)).tolist() for a, b in ((0, 6), (-7, 1000), (-2**31, 2**31 - 1), (0, 2**20))],
        'permutation': np.asarray(R.permutation(k, 12)).tolist(),
    }


def distributions(dtype):
    k = R.key(7)
    lists = lambda x: np.asarray(x).tolist()
    f = lambda *xs: jnp.array(xs, dtype)
    return {
        'uniform': lists(R.uniform(k, (2, 3), dtype, -2, 5)),
        'normal': lists(R.normal(k, (8,), dtype)),
        'truncatedNormal': lists(R.truncated_normal(k, f(-1, 0, 2, -9), f(2, 0.5, 9, -3), (2, 4), dtype)),
        'exponential': lists(R.exponential(k, (8,), dtype)),
        'gumbel': lists(R.gumbel(k, (8,), dtype)),
        'laplace': lists(R.laplace(k, (8,), dtype)),
        'logistic': lists(R.logistic(k, (8,), dtype)),
        'bernoulli': lists(R.bernoulli(k, f(0.1, 0.5, 0.9), (4, 3))),
        'gamma': lists(R.gamma(k, f(0.05, 0.7, 1, 3, 400), (4, 5), dtype)),
        'beta': lists(R.beta(k, f(0.01, 0.5, 2), f(3), (2, 3), dtype)),
        'dirichlet': lists(R.dirichlet(k, f(0.02, 1, 5), (2,), dtype)),
        'studentT': lists(R.t(k, f(1, 3, 30), (2, 3), dtype)),
        'categorical': lists(R.categorical(k, jnp.array([[0.0, 1, 2], [2, 0, -1]], dtype), shape=(4, 2))),
        'categoricalFirst': lists(R.categorical(k, jnp.array([[0.0, 1, 2], [2, 0, -1]], dtype), axis=0)),
        'choiceP': lists(R.choice(k, 4, (6,), p=f(0.1, 0.2, 0.3, 0.4))),
        'choiceOnceP': lists(R.choice(k, 4, (3,), replace=False, p=f(0.1, 0.2, 0.3, 0.4))),
        'multivariateNormal': lists(R.multivariate_normal(k, f(1, 2), jnp.array([[1, 3], [3, 9.25]], dtype), (3,), dtype)),
        'glorotUniform': lists(jax.nn.initializers.glorot_uniform()(k, (3, 2), dtype)),
        'glorotNormal': lists(jax.nn.initializers.glorot_normal()(k, (3, 2), dtype)),
        'heUniform': lists(jax.nn.initializers.he_uniform()(k, (3, 2), dtype)),
        'heNormal': lists(jax.nn.initializers.he_normal()(k, (3, 2), dtype)),
        'lecunUniform': lists(jax.nn.initializers.lecun_uniform()(k, (3, 2), dtype)),
        'lecunNormal': lists(jax.nn.initializers.lecun_normal()(k, (3, 2), dtype)),
        'heNormalConv': lists(jax.nn.initializers.he_normal(in_axis=1, out_axis=0)(k, (2, 3, 1, 2), dtype).ravel()),
    }


def slope(a, x):
    """dx/da of a gamma number x: -(dP/da) / p(x)."""
    mpmath.mp.dps = 60
    a, x = mpmath.mpf(a), mpmath.mpf(x)
    below = lambda b: mpmath.gammainc(b, 0, x, regularized=True)
    return float(-mpmath.diff(below, a) / (x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)))


PLACES = [(0.01, 1e-9), (0.01, 0.5), (0.3, 0.001), (0.5, 0.2), (0.5, 6), (1, 1), (1, 0.01), (2.5, 7), (10, 4), (10, 10), (10, 25), (300, 260), (300, 350), (9000, 9200), (110000, 109000), (110000, 111200)]
k = R.key(7)
# Whole numbers of 32 bits, as JAX's are without x64.
with jax.enable_x64(False):
    choices = {
        'choice': np.asarray(R.choice(k, 5, (2, 3))).tolist(),
        'choiceOnce': np.asarray(R.choice(k, 9, (4,), replace=False)).tolist(),
        'poisson': np.asarray(R.poisson(k, jnp.array([0, 0.3, 4, 9.9, 10, 50, 1e4]), (3, 7))).tolist(),
    }
json.dump(
    {
        'keys': [of_key(s) for s in SEEDS],
        'f32': distributions(jnp.float32),
        'f64': distributions(jnp.float64),
        **choices,
        'randintArrays': np.asarray(R.randint(k, (2, 3), jnp.array([0, -5, -2**31], jnp.int32), jnp.array([10, 5, 2**31 - 1], jnp.int32), jnp.int32)).tolist(),
        'permutationRows': np.asarray(R.permutation(k, jnp.arange(12.0).reshape(4, 3))).tolist(),
        'permutationColumns': np.asarray(R.permutation(k, jnp.arange(12.0).reshape(4, 3), axis=1)).tolist(),
        'permutationIndependent': np.asarray(R.permutation(k, jnp.arange(12.0).reshape(4, 3), axis=1, independent=True)).tolist(),
        'gammaGradient': [[a, x, slope(a, x)] for a, x in PLACES],
    },
    sys.stdout,
)
print()
