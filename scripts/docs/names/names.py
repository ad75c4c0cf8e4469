"""Makes libraries.json: the public functions of NumPy, SciPy, JAX and PyTorch by module, and what the calls of table.txt (section "written") give there.

    pip install numpy scipy jax torch && python scripts/docs/names/names.py
"""
import json
import math
import os
import pathlib
import re
import types
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
warnings.simplefilter("ignore")
import jax
import jax.numpy as jnp
import jax.scipy.linalg, jax.scipy.signal, jax.scipy.special  # noqa: E401
import numpy as np
import scipy
import scipy.fft, scipy.linalg as sl, scipy.signal as ss, scipy.special as sp  # noqa: E401
import torch
import torch.nn.functional as F

jax.config.update("jax_enable_x64", True)
here = pathlib.Path(__file__).parent

# What is no function of PyTorch's users: forms that write in place or copy a view, kernels of engines, quantised, sparse and nested tensors, switches.
INNER = re.compile(
    r".*_$|(?!index_).*_copy$|(cudnn|miopen|mkldnn|fbgemm|quantiz|fake_quant|q_|sym_|unsafe_|sparse_|batch_norm_|embedding_renorm|fused_|choose_q|native_norm|autocast|"
    r"(is|set|get|are|use|clear)_(autocast|anomaly|deterministic|grad|inference_mode|warn|float32|num_|flush|threads)).*|"
    r".*(spmm|smm|addmm_sparse|resize_as|(col|row|crow|ccol)_indices.*|deterministic_algorithms.*|autocast.*|qparams.*)$|(hspmm|hsmm|dsmm|saddmm|sspaddmm|dequantize|int_repr|hash_tensor|"
    r"init_num_threads|alias|slice_inverse|row_indices|matmul_precision|get_float32_matmul_precision|is_same_size|dropout_)$"
)


def functions(module):
    names = getattr(module, "__all__", None) or dir(module)
    values = {n: getattr(module, n, None) for n in names if not n.startswith("_")}
    return sorted(n for n, v in values.items() if callable(v) and not isinstance(v, (type, types.ModuleType)))


MODULES = {
    "numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft,
    "scipy.linalg": sl, "scipy.special": sp, "scipy.fft": scipy.fft, "scipy.signal": ss,
    "jax.numpy": jnp, "jax.numpy.linalg": jnp.linalg, "jax.numpy.fft": jnp.fft, "jax.lax": jax.lax, "jax.nn": jax.nn, "jax.nn.initializers": jax.nn.initializers,
    "jax.random": jax.random, "jax.ops": jax.ops, "jax.scipy.linalg": jax.scipy.linalg, "jax.scipy.special": jax.scipy.special, "jax.scipy.signal": jax.scipy.signal,
    "torch": torch, "torch.nn.functional": F, "torch.linalg": torch.linalg, "torch.special": torch.special, "torch.fft": torch.fft,
}  # fmt: skip
libraries = {m: " ".join(n for n in functions(v) if not (m.startswith("torch") and INNER.match(n))) for m, v in MODULES.items()}

# The arguments of the calls; table.ts has the same.
x, y, u, w = (np.array(v) for v in ([0.2, 0.5, 0.7], [0.3, 0.1, 0.9], [2.5, 3.5, 4.0], [-1.5, 0.5, 2.0]))
A, B = np.array([[4.0, 1], [1, 3]]), np.array([[1.0, 2], [3, 5]])
i, j = np.array([5, 3, 6], np.int32), np.array([1, 2, 3], np.int32)
c, d = np.array([True, False, True]), np.array([True, True, False])
X = np.arange(32.0).reshape(1, 2, 4, 4) / 10
T = torch.tensor


def plain(v):
    if isinstance(v, dict):
        return {k: plain(e) for k, e in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(e) for e in v]
    return np.asarray(v).tolist()


section = (here / "table.txt").read_text().split("## written\n")[1].split("\n## ")[0]
values = {}
for line in section.strip().split("\n"):
    ours, _, call, *_ = line.split(" | ")
    values[ours] = plain(eval(call))
json.dump({"libraries": libraries, "values": values}, open(here / "libraries.json", "w"), indent=2)
