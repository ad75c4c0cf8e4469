"""What ArviZ says of chains: the golden numbers of test/prob/inference/diagnostics.json and psis.json. python3 -m venv V; V/bin/pip install arviz==0.23.4; V/bin/python test/prob/inference/diagnostics.py"""
import json
import pathlib

import arviz
import numpy as np
from arviz.stats.diagnostics import _rhat, _split_chains, _z_scale


def autoregressive(rng, chains, draws, rho, shift=0.0):
    """Chains of an autoregressive process, each around a place of its own if shift is not 0."""
    x = np.zeros((chains, draws))
    x[:, 0] = rng.normal(size=chains)
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=chains)
    return x + shift * np.arange(chains)[:, None]


def rank_rhat(x):
    """As arviz.rhat, which refuses a single chain."""
    split = _split_chains(x)
    found = max(_rhat(_z_scale(split)), _rhat(_z_scale(np.abs(split - np.median(split)))))
    assert len(x) == 1 or found == arviz.rhat(x, method="rank")
    return found


rng = np.random.default_rng(1)
cases = {
    "independent": rng.normal(size=(4, 60)),
    "correlated": autoregressive(rng, 4, 80, 0.8),
    "anticorrelated": autoregressive(rng, 4, 80, -0.6),
    "apart": autoregressive(rng, 3, 50, 0.3, 0.7),
    "heavy tails": rng.standard_cauchy(size=(2, 61)),
    "one chain, an odd number of draws": autoregressive(rng, 1, 75, 0.5),
    "equal numbers": np.round(rng.normal(size=(4, 40))),
    "different spreads": rng.normal(size=(4, 50)) * np.array([1, 1, 1, 4.0])[:, None],
}
rows = []
for name, x in cases.items():
    x = np.round(x, 6)
    rows.append(
        {
            "name": name,
            "x": x.tolist(),
            "bulk": float(arviz.ess(x, method="bulk")),
            "tail": float(arviz.ess(x, method="tail")),
            "mean": float(arviz.ess(x, method="mean")),
            "rhat": float(rank_rhat(x)),
            "mcse": float(arviz.mcse(x, method="mean")),
        }
    )
pathlib.Path(__file__).with_suffix(".json").write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")

ratios = {
    "normal": rng.normal(size=200),
    "heavy": rng.standard_t(1.5, size=300),
    "light": rng.uniform(size=100),
    "bounded": -rng.exponential(size=500),
    "few": rng.normal(size=12),
}
smoothed = []
for name, x in ratios.items():
    x = np.round(x, 6)
    weights, k = arviz.psislw(x.copy())
    smoothed.append({"name": name, "x": x.tolist(), "weights": np.exp(np.asarray(weights)).tolist(), "k": None if np.isinf(k) else float(k)})
pathlib.Path(__file__).with_name("psis.json").write_text("[\n" + ",\n".join(json.dumps(r) for r in smoothed) + "\n]\n")
