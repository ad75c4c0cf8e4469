"""Writes test/onnx/cases.bin.gz: the backend tests of ONNX, models with inputs and expected outputs (Apache-2.0, the ONNX authors): `/usr/bin/python3 test/onnx/cases.py`.

Needs Debian's libonnx-testdata (ONNX 1.12). The file: the length of a JSON index as 4 bytes, the index, the bytes of all files one after the other. Cases
whose files are larger than MOST bytes are left out, their names kept.
"""
import gzip
import json
import os
import struct

import onnx

ROOT = "/usr/share/libonnx-testdata/data"
MOST = 60_000
cases, left_out, data = [], [], bytearray()


def keep(content):
    start = len(data)
    data.extend(content)
    return [start, len(data)]


def put(path):
    with open(path, "rb") as f:
        return keep(f.read())


# Sequences and optionals as lists of tensors: their messages are not those of models.
def of_type(content, kind):
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        values = onnx.SequenceProto.FromString(content).tensor_values
        return {"list": [keep(t.SerializeToString()) for t in values]}
    if which == "optional_type":
        o = onnx.OptionalProto.FromString(content)
        if o.elem_type == onnx.OptionalProto.TENSOR:
            return keep(o.tensor_value.SerializeToString())
        if o.elem_type == onnx.OptionalProto.SEQUENCE:
            return {"list": [keep(t.SerializeToString()) for t in o.sequence_value.tensor_values]}
        return None
    return keep(content)


def values(folder, files, name, declared):
    found = sorted((f for f in files if f.startswith(name)), key=lambda f: int("".join(c for c in f if c.isdigit())))
    out = []
    for f, d in zip(found, declared):
        with open(f"{folder}/{f}", "rb") as content:
            out.append(of_type(content.read(), d.type))
    return out


for kind in ["node", "simple", "pytorch-converted", "pytorch-operator"]:
    for name in sorted(os.listdir(f"{ROOT}/{kind}")):
        folder = f"{ROOT}/{kind}/{name}"
        sets = sorted(s for s in os.listdir(folder) if s.startswith("test_data_set"))
        size = sum(os.path.getsize(os.path.join(a, f)) for a, _, files in os.walk(folder) for f in files)
        if size > MOST:
            left_out.append(f"{kind}/{name}")
            continue
        at, graph = f"{folder}/{sets[0]}", onnx.load(f"{folder}/model.onnx").graph
        files, initial = os.listdir(at), {t.name for t in graph.initializer}
        cases.append(
            {
                "name": f"{kind}/{name[5:]}",
                "model": put(f"{folder}/model.onnx"),
                "inputs": values(at, files, "input", [i for i in graph.input if i.name not in initial]),
                "outputs": values(at, files, "output", graph.output),
            }
        )
index = json.dumps({"source": "ONNX 1.12.0 backend tests, Apache-2.0", "leftOut": left_out, "cases": cases}, separators=(",", ":")).encode()
with open("test/onnx/cases.bin.gz", "wb") as out:
    out.write(gzip.compress(struct.pack("<I", len(index)) + index + bytes(data), 9, mtime=0))
print(len(cases), "cases,", len(left_out), "left out,", os.path.getsize("test/onnx/cases.bin.gz"), "bytes")
