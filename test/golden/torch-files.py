"""Files of torch.save for test/golden/torch-files.json, in base64, with what is in them: `/usr/bin/python3 test/golden/torch-files.py` (PyTorch 1.13)."""
import argparse
import base64
import collections
import io
import json

import numpy as np
import torch

files = {}


def numbers(t):
    return [repr(float(x)) for x in t.detach().to(torch.float64).reshape(-1)]


def walk(x, name, out):
    if isinstance(x, torch.Tensor):
        out[name] = {"shape": list(x.shape), "data": numbers(x)}
    elif isinstance(x, dict):
        for k, y in x.items():
            walk(y, f"{name}.{k}" if name else str(k), out)
    elif isinstance(x, (list, tuple)):
        for i, y in enumerate(x):
            walk(y, f"{name}.{i}" if name else str(i), out)
    return out


def put(name, x, readable=True, **options):
    f = io.BytesIO()
    torch.save(x, f, **options)
    files[name] = {"bytes": base64.b64encode(f.getvalue()).decode()}
    if readable:
        files[name]["tensors"] = walk(x, "", {})


torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2)).eval()
x = torch.tensor([[1.0, -2.0, 0.5], [0.0, 0.25, -1.0]])
put("state dict", net.state_dict())
files["state dict"] |= {"x": x.tolist(), "y": net(x).tolist()}

ramp = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
for dtype in ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]:
    t = ramp[0] - 5 if dtype not in ("uint8", "bool") else ramp[0] % 3
    put(f"dtype {dtype}", {"w": (t / 4 if "float" in dtype else t).to(getattr(torch, dtype))})
put("extremes", {"f": torch.tensor([float("inf"), float("-inf"), float("nan"), -0.0, 1e-45]), "h": torch.tensor([65504.0, 6e-8, float("inf")], dtype=torch.float16)})
put(
    "strides and offsets",
    {
        "transposed": ramp.permute(2, 0, 1),
        "column": ramp[:, 1, 2],
        "row": ramp[1, 2],
        "every other": ramp[0, :, ::2],
        "expanded": torch.tensor([[1.0], [2.0]]).expand(2, 3),
        "overlapping": torch.arange(6.0).unfold(0, 3, 1),
        "channels last": torch.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=torch.channels_last),
        "half": ramp.half().transpose(0, 2)[1],
    },
)
put("no axes and no elements", {"scalar": torch.tensor(2.5), "none": torch.zeros(2, 0, 3), "part": torch.arange(3.0)[3:]})
tied = torch.arange(4.0)
put("shared", {"a": tied, "b": tied, "c": tied.view(2, 2), "d": tied[1:]})
net2 = torch.nn.Linear(1, 1)
optimizer = torch.optim.Adam(net2.parameters(), lr=0.125)
net2(torch.ones(1, 1)).sum().backward()
optimizer.step()
put(
    "checkpoint",
    {
        "epoch": 3,
        "best": 0.5,
        "name": "größe",
        "none": None,
        "flags": (True, False),
        "long": [2**40, -(2**40), 2**70, -1, 255, 65535, 65536, -(2**31)],
        "size": torch.Size([2, 3]),
        "dtype": torch.float16,
        "device": torch.device("cpu"),
        "milestones": collections.Counter([10, 20, 10]),
        "ordered": collections.OrderedDict(b=1, a=[2, {"deep": torch.ones(1)}]),
        "parameter": torch.nn.Parameter(torch.tensor([7.0])),
        "__proto__": {"x": 1},
        "model": net2.state_dict(),
        "optimizer": optimizer.state_dict(),
    },
)
put("a tensor", torch.arange(3.0))
put("many", {f"w{i}": torch.tensor([float(i)]) for i in range(70)})  # beyond one byte of the memo
put("too large for an i32", {"n": torch.tensor([1, 2**31])}, readable=False)
put("complex", {"w": torch.tensor([1j])}, readable=False)
put("sparse", {"w": torch.eye(2).to_sparse()}, readable=False)
put("quantised", {"w": torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8)}, readable=False)
put("a model", net2, readable=False)
put("a namespace", {"args": argparse.Namespace(lr=0.1), "model": net2.state_dict()}, readable=False)
put("a number of numpy", {"best": np.float64(0.5)}, readable=False)
put("bytes", {"raw": b"ab"}, readable=False)
put("before 1.6", net2.state_dict(), readable=False, _use_new_zipfile_serialization=False)
put("protocol 4", net2.state_dict(), readable=False, pickle_protocol=4)
put("a function", {"f": print}, readable=False)
with open("test/golden/torch-files.json", "w") as out:
    json.dump(files, out, indent=1, ensure_ascii=False)
    out.write("\n")
print(len(files), "files")
