"""What NumPy makes of random lists of indices: python test/golden/indexing.py > test/golden/indexing.json

Each case: the shape of x = arange, the indices in codual's notation ({"computed": ...} is an i32 array that a function is given),
x[indices], a v that broadcasts to it, x after x[indices] = v, and after numpy.add.at(x, indices, v).
"""
import json
import random

import numpy as np

rng = random.Random(11)


def part(n):
    bound = lambda: rng.choice([None, None, rng.randint(-n - 2, n + 2)])
    start, stop = bound(), bound()
    step = rng.choice([None, None, None, 1, 2, 3, -1, -1, -2])
    text = ":".join("" if b is None else str(b) for b in ([start, stop] if step is None else [start, stop, step]))
    return text, slice(start, stop, step)


def index_list(shape, arrays):
    """Codual's list and NumPy's tuple."""
    ours, theirs = [], []
    axes = list(range(len(shape)))
    count = rng.randint(0, len(shape)) if rng.random() < 0.5 else len(shape)
    ellipsis = rng.random() < 0.25
    split = rng.randint(0, count) if ellipsis else count
    named = axes[:split] + (axes[len(axes) - (count - split):] if count > split else [])
    group = rng.choice([[2], [3], [2, 3], [1, 2], [1]])
    for place, axis in enumerate(named + [None]):
        while rng.random() < 0.12:
            ours.append(None)
            theirs.append(None)
        if ellipsis and place == split:
            ours.append("...")
            theirs.append(Ellipsis)
        if axis is None:
            break
        n = shape[axis]
        kind = rng.choice(["slice", "slice", "number", "scalar"] + ["array"] * (9 if arrays else 0))
        if n == 0 and kind != "slice":
            kind = "empty" if kind == "array" else "slice"
        if kind == "slice":
            text, s = part(n)
            ours.append(text)
            theirs.append(s)
        elif kind == "number":
            k = rng.randint(-n, n - 1)
            ours.append(k)
            theirs.append(k)
        elif kind == "scalar":
            k = rng.randint(-n, n - 1)
            ours.append({"computed": k})
            theirs.append(np.array(k))
        elif kind == "empty":
            ours.append([])
            theirs.append(np.array([], dtype=int))
        else:
            own = [1 if rng.random() < 0.2 else d for d in group[rng.randint(0, len(group) - 1):]]
            a = np.array([rng.randint(-n, n - 1) for _ in range(int(np.prod(own)))]).reshape(own)
            ours.append(a.tolist() if rng.random() < 0.6 else {"computed": a.tolist()})
            theirs.append(a)
    return ours, tuple(theirs)


def values_for(shape):
    own = list(shape)[rng.randint(0, len(shape)) if rng.random() < 0.4 else 0:]
    own = [1 if rng.random() < 0.2 else d for d in own]
    return (100 + np.arange(int(np.prod(own)))).reshape(own)


cases = []
while len(cases) < 420:
    shape = [rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5]) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4]))]
    if np.prod(shape) > 24 or (not shape and rng.random() < 0.7):
        continue
    x = np.arange(int(np.prod(shape))).reshape(shape)
    ours, theirs = index_list(shape, len(cases) % 4 != 0)
    try:
        y = x[theirs]
    except IndexError as e:
        if "broadcast" in str(e):
            continue
        raise
    if y.size > 30:
        continue
    v = values_for(y.shape)
    replaced, added = x.copy(), x.copy()
    replaced[theirs] = v
    np.add.at(added, theirs, v)
    flat = lambda a: np.asarray(a).reshape(-1).tolist()
    cases.append({"x": shape, "at": ours, "shape": list(np.shape(y)), "y": flat(y), "v": list(v.shape), "set": flat(replaced), "add": flat(added)})

print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
