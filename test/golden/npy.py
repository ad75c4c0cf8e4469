"""Files of NumPy for test/golden/npy.json, in base64, with what is in them: `python test/golden/npy.py` (numpy 2.4)."""
import base64
import io
import json

import numpy as np

files = {}


def put(name, content, array=None):
    row = {"bytes": base64.b64encode(content).decode()}
    if array is not None:
        row |= {"shape": list(array.shape), "data": [repr(float(x)) for x in array.ravel()]}
    files[name] = row


def npy(name, array, version=None):
    f = io.BytesIO()
    np.lib.format.write_array(f, array, version=version)
    put(name, f.getvalue(), None if array.dtype.hasobject or array.dtype.kind in "cUMV" else array)


cube = np.arange(24).reshape(2, 3, 4)
for t in ["<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8"]:
    npy(f"dtype {t}", (cube - (0 if "u" in t else 5)).astype(t) / (1 if t[1] in "iu" else np.array(4, t)).astype(t) if t[1] == "f" else (cube - (0 if "u" in t else 5)).astype(t))
npy("dtype |b1", cube % 3 == 0)
npy("columns first", np.asfortranarray(cube.astype("<f4")))
npy("columns first, other byte order", np.asfortranarray(cube.astype(">i2")))
npy("rank 0", np.array(2.5))
npy("rank 1", np.array([1.0, -0.0, np.inf, np.nan, 5e-324]))
npy("no elements", np.zeros((2, 0, 3), "<f4"))
npy("version 2.0", np.array([1.5, 2]), (2, 0))
npy("version 3.0", np.array([1.5, 2]), (3, 0))
npy("too large for an i32", np.array([1, 2**31]))
npy("objects", np.array([{"a": 1}, None], dtype=object))
npy("complex", np.array([1j]))
npy("texts", np.array(["ab"]))
npy("dates", np.array(["2026-01-01"], dtype="M8[D]"))
npy("records", np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f4")]))
for name, save in [("savez", np.savez), ("savez_compressed", np.savez_compressed)]:
    f = io.BytesIO()
    save(f, cube.astype("<f4"), w=np.asfortranarray(cube[0].astype(">f8")), **{"layer.0.b": np.arange(1000, dtype="<i4") % 7, "größe": np.array(True)})
    put(name, f.getvalue())
with open("test/golden/npy.json", "w") as out:
    json.dump(files, out, indent=1, ensure_ascii=False)
    out.write("\n")
print(len(files), "files")
