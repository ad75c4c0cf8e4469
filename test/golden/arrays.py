"""What NumPy, SciPy and JAX make of arrays: python test/golden/arrays.py > test/golden/arrays.json

Each case: a function of codual, its arguments, and the result (a list of them, or a record). An array is {"shape", "dtype", "data"}; numbers that JSON
has not are "nan", "inf", "-inf".
"""
import json
import math
import os
import warnings

import numpy as np
import scipy.integrate

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

warnings.filterwarnings("ignore")
rng = np.random.default_rng(5)
NAMES = {"float64": "f64", "float32": "f32", "int32": "i32", "int64": "i32", "bool": "bool"}


def number(v):
    v = v.item() if hasattr(v, "item") else v
    if isinstance(v, float) and not math.isfinite(v):
        return "nan" if math.isnan(v) else ("inf" if v > 0 else "-inf")
    return v


def plain(v):
    if isinstance(v, (np.ndarray, np.generic, jax.Array)):
        v = np.asarray(v)
        return {"shape": list(v.shape), "dtype": NAMES[v.dtype.name], "data": [number(e) for e in v.ravel()]}
    if isinstance(v, dict):
        return {k: plain(e) for k, e in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(e) for e in v]
    return number(v) if isinstance(v, float) else v


cases = []


def case(f, args, result, **more):
    cases.append({"f": f, "args": [plain(a) for a in args], "result": plain(result), **more})


def floats(*shape, dtype=np.float64):
    return np.round(rng.normal(size=shape) * 2, 3).astype(dtype)


def ints(*shape, low=-4, high=5):
    return rng.integers(low, high, size=shape).astype(np.int32)


SHAPES = [(7,), (3, 4), (2, 3, 4), (1, 5), (4, 1)]
f32 = np.float32

# ---- numbers
A = np.array([-7.5, -2, -0.5, 0.0, 0.5, 2, 7.5, np.nan, np.inf, -np.inf])
for a, b in [(floats(3, 4), floats(4)), (floats(2, 1), floats(1, 3)), (floats(5, dtype=f32), floats(5, dtype=f32)), (A[:7], np.full(7, 2.0)), (A[:7], np.full(7, -2.0)), (np.array(7.5), np.array(-2.0))]:
    case("floorDivide", [a, b], np.floor_divide(a, b))
    case("remainder", [a, b], np.remainder(a, b))
    case("fmod", [a, b], np.fmod(a, b))
    case("fmax", [a, b], np.fmax(a, b))
    case("fmin", [a, b], np.fmin(a, b))
    case("heaviside", [a, b], np.heaviside(a, b))
case("floorDivide", [ints(9), np.array([1, 2, 3, -1, -2, -3, 2, 5, -5], np.int32)], None)
case("fmod", [ints(9), np.array([1, 2, 3, -1, -2, -3, 2, 5, -5], np.int32)], None)
for c in cases[-2:]:
    a, b = (np.array(x["data"], np.int32) for x in c["args"])
    c["result"] = plain((np.floor_divide if c["f"] == "floorDivide" else np.fmod)(a, b))
case("floorDivide", [np.array([1.0, 1.0]), np.array([0.1, 0.0])], np.floor_divide([1.0, 1.0], [0.1, 0.0]))
case("fmax", [A, A[::-1].copy()], np.fmax(A, A[::-1]))
case("fmin", [A, A[::-1].copy()], np.fmin(A, A[::-1]))
case("trunc", [A], np.trunc(A))
case("isinf", [A], np.isinf(A))
case("isinf", [ints(3)], np.zeros(3, bool))
case("signbit", [A[:7]], np.signbit(A[:7]))
case("nanToNum", [A], np.nan_to_num(A))
case("nanToNum", [A.astype(f32)], np.nan_to_num(A.astype(f32)))
case("nanToNum", [A, {"nan": 1, "posinf": 9, "neginf": -9}], np.nan_to_num(A, nan=1, posinf=9, neginf=-9))
near = A + 1e-9
case("isclose", [A, near], np.isclose(A, near))
case("isclose", [A, near, {"equalNan": True, "rtol": 0, "atol": 1e-12}], np.isclose(A, near, equal_nan=True, rtol=0, atol=1e-12))
case("isclose", [A, A[::-1].copy()], np.isclose(A, A[::-1]))
case("allclose", [A[:7], near[:7]], np.array(np.allclose(A[:7], near[:7])))
case("allclose", [A, near], np.array(np.allclose(A, near)))

# ---- new arrays
for start, stop, step in [(1, 7, 2), (5, -3, -3), (0, 1, 0.3), (3, 3, 1), (4, 1, 1), (-2.5, 2.5, 1.25)]:
    case("arange", [start, stop, step, "f64"], np.arange(start, stop, step).astype(float))
case("arange", [2, 9, 3, "i32"], np.arange(2, 9, 3).astype(np.int32))
case("linspace", [0, 3, 6, {"endpoint": False}], np.linspace(0, 3, 6, endpoint=False))
case("linspace", [2, 3, 1, {"endpoint": False}], np.linspace(2, 3, 1, endpoint=False))
case("logspace", [-1, 2, 5], np.logspace(-1, 2, 5))
case("logspace", [0, 3, 4, {"base": 2, "endpoint": False}], np.logspace(0, 3, 4, base=2, endpoint=False))
case("geomspace", [1, 1000, 4], np.geomspace(1, 1000, 4))
case("geomspace", [-2, -0.5, 5], np.geomspace(-2, -0.5, 5))
x, y, z = floats(3), floats(2), floats(4)
for indexing in ["xy", "ij"]:
    case("meshgrid", [[x, y], {"indexing": indexing}], np.meshgrid(x, y, indexing=indexing))
    case("meshgrid", [[x, y, z], {"indexing": indexing}], np.meshgrid(x, y, z, indexing=indexing))
case("meshgrid", [[x]], np.meshgrid(x))
for n, k, m in [(3, 0, 3), (3, 1, 4), (4, -1, 2), (2, 5, 2), (0, 0, 0)]:
    r, c = np.tril_indices(n, k, m)
    case("trilIndices", [n, k, m], {"rows": r.astype(np.int32), "columns": c.astype(np.int32)})
    r, c = np.triu_indices(n, k, m)
    case("triuIndices", [n, k, m], {"rows": r.astype(np.int32), "columns": c.astype(np.int32)})

# ---- arranging
t = floats(2, 3, 4)
case("moveaxis", [t, 0, -1], np.moveaxis(t, 0, -1))
case("moveaxis", [t, [0, 1], [-1, -2]], np.moveaxis(t, [0, 1], [-1, -2]))
case("moveaxis", [t, [2], [0]], np.moveaxis(t, [2], [0]))
case("swapaxes", [t, 0, 2], np.swapaxes(t, 0, 2))
case("swapaxes", [t, -1, 1], np.swapaxes(t, -1, 1))
for v in [np.array(3.0), floats(3), floats(2, 3), t, floats(0, 3), ints(2, 2)]:
    case("flatten", [v], np.ravel(v))
    case("atleast1d", [v], np.atleast_1d(v))
    case("atleast2d", [v], np.atleast_2d(v))
    case("atleast3d", [v], np.atleast_3d(v))
for xs in [[floats(3), floats(3)], [floats(2, 3), floats(2, 3)], [floats(2, 3, 2), floats(2, 3, 2)], [np.array(1.0), np.array(2.0)], [floats(3, dtype=f32), ints(3)]]:
    if xs[0].dtype == f32:
        xs[1] = xs[1].astype(f32)
    case("vstack", [xs], np.vstack(xs))
    case("hstack", [xs], np.hstack(xs))
    case("dstack", [xs], np.dstack(xs))
    if xs[0].ndim < 3:
        case("columnStack", [xs], np.column_stack(xs))
for n, k, axis in [((7,), 3, 0), ((2, 5), 2, 1), ((2,), 3, 0), ((3, 4), 4, -1)]:
    v = floats(*n)
    case("arraySplit", [v, k, {"axis": axis}], np.array_split(v, k, axis=axis))
for k in range(-1, 5):
    case("rot90", [t, {"k": k}], np.rot90(t, k))
case("rot90", [t, {"axes": [2, 0]}], np.rot90(t, axes=(2, 0)))
case("flipud", [t], np.flipud(t))
case("fliplr", [t], np.fliplr(t))
a, b, c, d = floats(2, 2), floats(2, 3), floats(1, 2), floats(1, 3)
case("block", [[[a, b], [c, d]]], np.block([[a, b], [c, d]]))
case("block", [[x, y]], np.block([x, y]))
for mode in ["edge", "reflect", "symmetric", "wrap"]:
    for v, w in [(floats(4), [[2, 3]]), (floats(3), [[7, 8]]), (floats(2, 3), [[1, 0], [4, 2]]), (floats(1, 2), [[2, 1], [1, 1]]), (ints(3), [[1, 2]])]:
        case("pad", [v, w, {"mode": mode}], np.pad(v, w, mode=mode))
case("pad", [floats(2), [[1, 1]], {"value": 7}], None)
cases[-1]["result"] = plain(np.pad(np.array(cases[-1]["args"][0]["data"]), [[1, 1]], constant_values=7))
case("repeat", [t, [1, 0, 3], {"axis": 1}], np.repeat(t, [1, 0, 3], axis=1))
case("repeat", [t, np.array([2, 1], np.int32), {"axis": 0, "totalLength": 3}], np.repeat(t, [2, 1], axis=0))

# ---- differences
for s in SHAPES:
    v = floats(*s)
    for axis in range(-1, v.ndim):
        case("diff", [v, {"axis": axis}], np.diff(v, axis=axis))
        case("diff", [v, {"axis": axis, "n": 2}], np.diff(v, n=2, axis=axis))
        case("trapezoid", [v, {"axis": axis}], np.trapezoid(v, axis=axis))
        case("cumulativeTrapezoid", [v, {"axis": axis, "dx": 0.5}], scipy.integrate.cumulative_trapezoid(v, dx=0.5, axis=axis))
        places = np.cumsum(rng.uniform(0.5, 1.5, size=v.shape[axis])).round(3)
        case("trapezoid", [v, {"axis": axis, "x": places}], np.trapezoid(v, places, axis=axis))
        case("cumulativeTrapezoid", [v, {"axis": axis, "x": places}], scipy.integrate.cumulative_trapezoid(v, places, axis=axis))
        for order in [1, 2]:
            if v.shape[axis] > order:
                case("gradient", [v, {"axis": axis, "edgeOrder": order}], np.gradient(v, axis=axis, edge_order=order))
                case("gradient", [v, {"axis": axis, "edgeOrder": order, "spacing": places}], np.gradient(v, places, axis=axis, edge_order=order))
                case("gradient", [v, {"axis": axis, "edgeOrder": order, "spacing": 0.5}], np.gradient(v, 0.5, axis=axis, edge_order=order))
v = floats(3, 4)
case("gradient", [v], np.gradient(v))
case("gradient", [v, {"spacing": [0.5, np.array([0, 1, 3, 3.5])]}], np.gradient(v, 0.5, np.array([0, 1, 3, 3.5])))
case("gradient", [ints(5)], None)
cases[-1]["result"] = plain(np.gradient(np.array(cases[-1]["args"][0]["data"], float)))
case("diff", [np.array([True, False, False])], np.diff(np.array([True, False, False])))
case("diff", [floats(4), {"prepend": 0, "append": floats(2)}], None)
case("diff", [ints(2, 3), {"axis": 0}], None)
cases[-1]["result"] = plain(np.diff(np.array(cases[-1]["args"][0]["data"], np.int32).reshape(2, 3), axis=0))
cases[-2]["result"] = plain(np.diff(np.array(cases[-2]["args"][0]["data"]), prepend=0, append=np.array(cases[-2]["args"][1]["append"]["data"])))
xp, fp = np.array([-1, 0, 0.5, 2]), floats(4)
q = np.array([[-2, -1, -0.3], [0, 0.5, 1], [2, 3, np.nan]])
case("interp", [q, xp, fp], np.interp(q, xp, fp))
case("interp", [q, xp, fp, {"left": -9, "right": 9}], np.interp(q, xp, fp, left=-9, right=9))
case("interp", [q.astype(f32)[:2], xp.astype(f32), fp.astype(f32)], np.interp(q[:2], xp, fp).astype(f32))
case("interp", [np.array(0.25), xp[:1], fp[:1]], np.array(np.interp(0.25, xp[:1], fp[:1])))
case("polyval", [floats(4), floats(2, 3)], None)
cases[-1]["result"] = plain(np.polyval(np.array(cases[-1]["args"][0]["data"]), np.array(cases[-1]["args"][1]["data"]).reshape(2, 3)))
for n, m in [(5, 3), (3, 5), (4, 4), (5, 2), (2, 5), (1, 3), (6, 1)]:
    a, b = floats(n), floats(m)
    for mode in ["full", "same", "valid"]:
        case("convolve", [a, b, {"mode": mode}], np.convolve(a, b, mode))
        case("correlate", [a, b, {"mode": mode}], np.correlate(a, b, mode))

# ---- order and moments
METHODS = ["linear", "lower", "higher", "nearest", "midpoint"]
for s in [(7,), (3, 4), (2, 3, 4), (1,)]:
    v = floats(*s)
    axes = [None, 0, -1] + ([[0, 2]] if len(s) > 2 else [])
    for axis in axes:
        t_axis = tuple(axis) if isinstance(axis, list) else axis
        case("median", [v, {"axis": axis, "keepdims": True}], np.median(v, axis=t_axis, keepdims=True))
        for method in METHODS:
            case("quantile", [v, 0.3, {"axis": axis, "method": method}], np.asarray(np.quantile(v, 0.3, axis=t_axis, method=method)))
        case("percentile", [v, [0, 35, 100], {"axis": axis}], np.percentile(v, [0, 35, 100], axis=t_axis))
        case("quantile", [v, np.array([0.1, 0.9]), {"axis": axis}], np.quantile(v, np.array([0.1, 0.9]), axis=t_axis))
    for axis in range(-1, len(s)):
        case("cummax", [v, {"axis": axis}], np.maximum.accumulate(v, axis=axis))
        case("cummin", [v, {"axis": axis}], np.minimum.accumulate(v, axis=axis))
        case("cumprod", [v, {"axis": axis, "reverse": True}], np.flip(np.cumprod(np.flip(v, axis), axis=axis), axis))
    case("ptp", [v], np.asarray(np.ptp(v)))
for method in METHODS:
    case("quantile", [np.arange(5.0), 0.375, {"method": method}], np.asarray(np.quantile(np.arange(5.0), 0.375, method=method)))
case("median", [np.array([1.0, np.nan, 2])], np.array(np.nan))
case("median", [floats(5, dtype=f32)], None)
cases[-1]["result"] = plain(np.median(np.array(cases[-1]["args"][0]["data"], f32)))
case("median", [np.array([1, 2, 4, 9], np.int32)], np.array(3.0))
case("cummax", [np.array([1.0, np.nan, 2]), {"reverse": False}], np.maximum.accumulate(np.array([1.0, np.nan, 2])))
case("cummin", [ints(6)], None)
cases[-1]["result"] = plain(np.minimum.accumulate(np.array(cases[-1]["args"][0]["data"], np.int32)))
keys = [ints(8, low=0, high=3), ints(8, low=0, high=2), ints(8, low=0, high=2)]
case("lexsort", [keys], np.lexsort(keys).astype(np.int32))
k2 = [ints(2, 5, low=0, high=2), ints(2, 5, low=0, high=2)]
case("lexsort", [k2, {"axis": 0}], np.lexsort(k2, axis=0).astype(np.int32))
v, w = floats(3, 4), np.abs(floats(3, 4)) + 0.1
case("average", [v, {"weights": w}], np.asarray(np.average(v, weights=w)))
case("average", [v, {"weights": w, "axis": 0}], np.average(v, weights=w, axis=0))
case("average", [v, {"weights": w[:, 0].copy(), "axis": 0, "keepdims": True}], np.average(v, weights=w[:, 0], axis=0, keepdims=True))
case("average", [v], np.asarray(np.average(v)))
case("cov", [v], np.cov(v))
case("cov", [v, {"rowvar": False, "ddof": 0}], np.cov(v, rowvar=False, ddof=0))
case("cov", [v, {"weights": w[0].copy()}], np.cov(v, aweights=w[0]))
case("cov", [v[0].copy()], np.asarray(np.cov(v[0])))
case("corrcoef", [v], np.corrcoef(v))
case("corrcoef", [v, {"rowvar": False}], np.corrcoef(v, rowvar=False))

# ---- without NaN
n = floats(3, 4)
n[0, 1] = n[1] = np.nan
n[2, 2] = 0
for axis in [None, 0, 1, -1]:
    for ours, theirs in [("nansum", np.nansum), ("nanprod", np.nanprod), ("nanmean", np.nanmean), ("nanmax", np.nanmax), ("nanmin", np.nanmin), ("nanvar", np.nanvar), ("nanstd", np.nanstd), ("nanmedian", np.nanmedian)]:
        case(ours, [n, {"axis": axis, "keepdims": True}], np.asarray(theirs(n, axis=axis, keepdims=True)))
    case("nanvar", [n, {"axis": axis, "ddof": 1}], np.asarray(np.nanvar(n, axis=axis, ddof=1)))
    case("nanquantile", [n, 0.3, {"axis": axis}], np.asarray(np.nanquantile(n, 0.3, axis=axis)))
for m in METHODS:
    case("nanquantile", [n, 0.3, {"axis": 0, "method": m}], np.asarray(np.nanquantile(n, 0.3, axis=0, method=m)))
finite = floats(2, 3)
for ours, theirs in [("nansum", np.nansum), ("nanprod", np.nanprod), ("nanmean", np.nanmean), ("nanmax", np.nanmax), ("nanmin", np.nanmin), ("nanvar", np.nanvar), ("nanstd", np.nanstd), ("nanmedian", np.nanmedian)]:
    case(ours, [finite, {"axis": 1}], theirs(finite, axis=1))
case("nanquantile", [finite, 0.3, {"axis": 1}], np.nanquantile(finite, 0.3, axis=1))
case("nanargmax", [n, {"axis": 0}], np.nanargmax(n, axis=0).astype(np.int32))
case("nanargmin", [n, {"axis": 0}], np.nanargmin(n, axis=0).astype(np.int32))
case("nansum", [ints(4)], None)
cases[-1]["result"] = plain(np.array(cases[-1]["args"][0]["data"], np.int32).sum().astype(np.int32))
case("nansum", [np.zeros((0, 2)), {"axis": 0}], np.nansum(np.zeros((0, 2)), axis=0))

# ---- counting
m = ints(3, 4, low=-1, high=2)
for size in [0, 3, 12, 15]:
    case("nonzero", [m, {"size": size, "fill": -1}], [np.asarray(r, np.int32) for r in jnp.nonzero(m, size=size, fill_value=-1)])
    case("argwhere", [m, {"size": size}], np.asarray(jnp.argwhere(m, size=size), np.int32))
for v in [ints(9), floats(3, 3).round(0), np.array([1.0, np.nan, 1, np.nan])]:
    for size in [2, 4, 9]:
        r = jnp.unique(v, return_index=True, return_counts=True, size=size, fill_value=99)
        real = min(size, len(np.unique(v)))
        case("unique", [v, {"size": size, "fill": 99}], {"values": np.asarray(r[0]), "counts": np.asarray(r[2], np.int32)}, only=["values", "counts"])
    full, inverse = np.unique(v, return_inverse=True)
    case("unique", [v, {"size": len(full)}], {"values": full, "inverse": inverse.reshape(v.shape).astype(np.int32)}, only=["values", "inverse"])
h = floats(50)
for o in [{"bins": 5}, {"bins": 4, "range": [-1, 1]}, {"bins": np.array([-3.0, -1, 0, 0.5, 9])}, {"bins": 3, "density": True}, {"bins": 4, "weights": np.abs(floats(50))}]:
    counts, edges = np.histogram(h, **o)
    case("histogram", [h, o], {"counts": counts if counts.dtype.kind == "f" else counts.astype(np.int32), "edges": edges.astype(float)})
i = ints(9, low=0, high=5)
case("bincount", [i, {"size": 6}], np.bincount(i, minlength=6).astype(np.int32))
wi = floats(9)
case("bincount", [i, {"size": 5, "weights": wi}], np.bincount(i, weights=wi, minlength=5))
bins = np.array([-1.0, 0, 0.5, 2])
dv = np.array([[-2, -1, -0.5], [0, 0.5, 1], [2, 3, 0.2]])
case("digitize", [dv, bins], np.digitize(dv, bins).astype(np.int32))
case("digitize", [dv, bins, {"right": True}], np.digitize(dv, bins, right=True).astype(np.int32))
t = floats(3, 4)
cond = np.array([True, False, True])
case("compress", [cond, t, {"size": 2}], np.compress(cond, t, axis=0))
case("compress", [cond, t, {"size": 2, "axis": 1}], np.compress(cond, t, axis=1))
case("booleanMask", [t, t > 0, {"size": int((t > 0).sum())}], t[t > 0])
case("booleanMask", [t, cond, {"size": 2}], t[cond])
ids = np.array([0, 2, 2, -1, 0, 7, 2], np.int32)
rows = floats(7, 2)
for ours, theirs in [("segmentSum", jax.ops.segment_sum), ("segmentProd", jax.ops.segment_prod), ("segmentMax", jax.ops.segment_max), ("segmentMin", jax.ops.segment_min)]:
    keep = (ids >= 0) & (ids < 4)
    case(ours, [rows, ids, 4], np.asarray(theirs(rows[keep], ids[keep], 4)))
    case(ours, [rows[:, 0].astype(f32).copy(), ids, 4], np.asarray(theirs(rows[keep, 0].astype(f32), ids[keep], 4)))
    case(ours, [ints(7, low=1, high=4), ids, 4], None)
    cases[-1]["result"] = plain(np.asarray(theirs(np.array(cases[-1]["args"][0]["data"], np.int32)[keep], ids[keep], 4)))

# ---- updates
for name, f in [("maxAt", np.maximum), ("minAt", np.minimum), ("mulAt", np.multiply)]:
    for v, at, u in [(floats(5), [[0, 0, 3]], floats(3)), (floats(3, 4), [[2, 0, 2]], floats(3, 4)), (floats(3, 4), [[0, 0, 1], [1, 1, 2]], floats(3)), (ints(4), [[1, 1]], ints(2)), (floats(4, dtype=f32), [[-1, 3]], floats(2, dtype=f32))]:
        y = v.copy()
        f.at(y, tuple(np.array(k) for k in at), u)
        case(name, [v, at, u], y)
    v = floats(3, 4)
    y = v.copy()
    f.at(y, (slice(None), 1), 0.5)
    case(name, [v, [":", 1], 0.5], y)
p, pi, pv = floats(3, 4), ints(3, 2, low=-4, high=4), floats(3, 2)
pi[:, 1] = (pi[:, 0] + 5) % 4
y = p.copy()
np.put_along_axis(y, pi, pv, 1)
case("putAlongAxis", [p, pi, pv], y)
pi = np.array([[2, 0, 1, -1]], np.int32)
y = p.copy()
np.put_along_axis(y, pi, 9.0, 0)
case("putAlongAxis", [p, pi, 9, {"axis": 0}], y)
case("selectFirst", [[t > 1, t > 0], [t, -t], 5], np.select([t > 1, t > 0], [t, -t], 5))
case("topk", [t, 2, {"largest": False}], {"values": np.sort(t)[:, :2], "indices": np.argsort(t)[:, :2].astype(np.int32)})

# ---- norms of every order, diagonals of any matrix, what is not NaN
for shape in [(7,), (3, 4), (2, 3, 4)]:
    v = floats(*shape)
    v[v == 0] = 0.3
    for order, name in [(0, 0), (0.5, 0.5), (-1, -1), (-2.5, -2.5), (3.5, 3.5), (-np.inf, "-inf"), (np.inf, "inf")]:
        for axis in {0, len(shape) - 1}:
            case("norm", [v, {"ord": name, "axis": axis}], np.linalg.vector_norm(v, ord=order, axis=axis))
    case("norm", [v.astype(f32), {"ord": -2}], np.linalg.vector_norm(v.astype(f32), ord=-2))
for shape in [(3, 4), (4, 2), (1, 5), (3, 3)]:
    v = floats(*shape)
    for offset in [0, 1, -1, 7]:
        case("trace", [v, {"offset": offset}], np.trace(v, offset))
v = floats(2, 3, 4)
case("trace", [v], np.linalg.trace(v))
case("trace", [v, {"offset": 2, "axis1": 0}], np.trace(v, 2, 0, 2))
case("trace", [ints(3, 2)], np.trace(np.array(cases[-1]["args"][0]["data"][:6]).reshape(3, 2)))
cases[-1]["result"] = plain(np.trace(np.array(cases[-1]["args"][0]["data"], np.int32).reshape(3, 2)).astype(np.int32))
case("trace", [floats(0, 3)], np.float64(0))
for v in [np.array([1.5, np.nan, -2, np.nan, 3]), np.array([[np.nan, 1, 2], [np.nan, np.nan, np.nan], [4, 0.5, np.nan]]), floats(3, 4), floats(4, dtype=f32)]:
    case("nancumsum", [v, {"axis": 0}], np.nancumsum(v, axis=0))
    case("nancumprod", [v], np.nancumprod(v, axis=-1))
    case("nanpercentile", [v, [10, 50], {"axis": 0}], np.nanpercentile(v, [10, 50], axis=0).astype(v.dtype))
    case("nanpercentile", [v, 30], v.dtype.type(np.nanpercentile(v, 30)))
case("nancumsum", [ints(3), {"reverse": True}], None)
cases[-1]["result"] = plain(np.cumsum(np.array(cases[-1]["args"][0]["data"], np.int32)[::-1]).astype(np.int32)[::-1].copy())

# ---- reductions of what a mask keeps, from an initial number; rounding; what is beside infinities
NAMES_OF = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "variance": np.var, "std": np.std, "max": np.max, "min": np.min, "any": np.any, "all": np.all}
for name, fold in NAMES_OF.items():
    for v in [floats(3, 4), floats(2, 3, 2, dtype=f32), ints(3, 4)]:
        full, part = rng.random(v.shape) < 0.6, np.array([True, False, True, True])[: v.shape[-1]]
        for mask in [full, part]:
            options = {"where": mask}
            given = {"initial": 2} if name in ("max", "min") else {"ddof": 1} if name == "variance" else {}
            for axis in [{}, {"axis": 0}, {"axis": -1, "keepdims": True}]:
                r = np.asarray(fold(v, where=mask, **given, **axis))
                case(name, [v, {"where": mask, **given, **axis}], r.astype(np.int32) if r.dtype == np.int64 else r)
        if name in ("sum", "prod", "max", "min"):
            r = np.asarray(fold(v, axis=1, initial=3))
            case(name, [v, {"axis": 1, "initial": 3}], r.astype(np.int32) if r.dtype == np.int64 else r)
            case(name, [np.zeros((2, 0), v.dtype), {"axis": 1, "initial": 3}], fold(np.zeros((2, 0), v.dtype), axis=1, initial=3).astype(v.dtype))
for decimals in [2, 1, 0, -1]:
    case("round", [floats(7) * 13.7, {"decimals": decimals}], None)
    cases[-1]["result"] = plain(np.round(np.array(cases[-1]["args"][0]["data"]), decimals))
case("round", [np.array([1e300, np.inf, -np.inf, np.nan]), {"decimals": 20}], np.array([1e300, np.inf, -np.inf, np.nan]))
for n, m, k in [(2, 3, 0), (3, 2, 1), (2, 4, -1), (2, 3, 5), (0, 2, 0)]:
    case("eye", [n, m, k, "f64"], np.eye(n, m, k))
a, b = np.array([-1, 1, -5.5, 5.5, 0.0, -0.0, np.inf]), np.array([np.inf, -np.inf, -np.inf, np.inf, np.inf, -2, 3])
case("floorDivide", [a, b], np.floor_divide(a, b))
v = np.array([[-np.inf, 1, 2], [1, 2, np.inf], [-np.inf, -np.inf, 3]])
for q in [0.3, 0.4, 0.8]:
    case("quantile", [v, q, {"axis": 1}], np.quantile(v, q, axis=1))
v = floats(3)
case("diff", [v, {"n": 0, "prepend": 1}], np.diff(v, 0, prepend=1))
case("histogram", [np.zeros(0), {"bins": 2}], {"counts": np.zeros(2, np.int32), "edges": np.array([0, 0.5, 1])})
v = floats(3, 3)
v = v @ v.T + np.eye(3)
case("cholesky", [v, {"upper": True}], np.linalg.cholesky(v, upper=True))

print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
