"""Writes the backend tests of ONNX as data: models with inputs and expected outputs, of the ONNX authors (Apache-2.0).

`/usr/bin/python3 test/onnx/cases.py debian` reads those of Debian's libonnx-testdata (ONNX 1.12, with models that PyTorch exported), and
`python3 test/onnx/cases.py installed` has those of nodes made by the package onnx that is installed (1.23.1, of PyPI).
A file: the length of a JSON index as 4 bytes, the index, the bytes of all files one after the other. Cases whose files are larger than MOST bytes are left
out, their names kept.
"""
import gzip
import json
import os
import struct
import sys

import onnx
from onnx import numpy_helper

ROOT = "/usr/share/libonnx-testdata/data"
MOST = 60_000
cases, left_out, data = [], [], bytearray()


def keep(content):
    start = len(data)
    data.extend(content)
    return [start, len(data)]


# Sequences and optionals as lists of tensors: their messages are not those of models.
def kept(content, kind):
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        return {"list": [keep(t.SerializeToString()) for t in onnx.SequenceProto.FromString(content).tensor_values]}
    if which == "optional_type":
        o = onnx.OptionalProto.FromString(content)
        if o.elem_type == onnx.OptionalProto.TENSOR:
            return keep(o.tensor_value.SerializeToString())
        if o.elem_type == onnx.OptionalProto.SEQUENCE:
            return {"list": [keep(t.SerializeToString()) for t in o.sequence_value.tensor_values]}
        return None
    return keep(content)


def put(name, model, inputs, outputs):
    if len(model) + sum(map(len, inputs + outputs)) > MOST:
        left_out.append(name)
        return
    graph = onnx.ModelProto.FromString(model).graph
    initial = {t.name for t in graph.initializer}
    declared = [i for i in graph.input if i.name not in initial]
    place = keep(model)
    into = [[kept(x, d.type) for x, d in zip(xs, ds)] for xs, ds in [(inputs, declared), (outputs, graph.output)]]
    cases.append({"name": name, "model": place, "inputs": into[0], "outputs": into[1]})


def read(path):
    with open(path, "rb") as f:
        return f.read()


def debian():
    for kind in ["node", "simple", "pytorch-converted", "pytorch-operator"]:
        for name in sorted(os.listdir(f"{ROOT}/{kind}")):
            folder = f"{ROOT}/{kind}/{name}"
            at = f"{folder}/{sorted(s for s in os.listdir(folder) if s.startswith('test_data_set'))[0]}"
            files = sorted(os.listdir(at), key=lambda f: int("".join(c for c in f if c.isdigit())))
            inputs, outputs = ([read(f"{at}/{f}") for f in files if f.startswith(what)] for what in ["input", "output"])
            put(f"{kind}/{name[5:]}", read(f"{folder}/model.onnx"), inputs, outputs)


def message(x, d):
    if isinstance(x, onnx.TensorProto):
        return x
    if d.type.HasField("map_type"):
        return numpy_helper.from_dict(x, d.name)
    if d.type.HasField("sequence_type"):
        return numpy_helper.from_list(x, d.name)
    return numpy_helper.from_optional(x, d.name) if d.type.HasField("optional_type") else numpy_helper.from_array(x, d.name)


def installed():
    from onnx.backend.test.case import node

    for case in sorted(node.collect_testcases(None), key=lambda c: c.name):
        graph = case.model.graph
        inputs, outputs = ([message(x, d).SerializeToString() for x, d in zip(xs, ds)] for xs, ds in zip(case.data_sets[0], [graph.input, graph.output]))
        put(f"node/{case.name[5:]}", case.model.SerializeToString(), inputs, outputs)


{"debian": debian, "installed": installed}[sys.argv[1]]()
index = json.dumps({"leftOut": left_out, "cases": cases}, separators=(",", ":")).encode()
out = f"test/onnx/cases-{'.'.join(onnx.__version__.split('.')[:2])}.bin.gz"
with open(out, "wb") as f:
    f.write(gzip.compress(struct.pack("<I", len(index)) + index + bytes(data), 9, mtime=0))
print(out, len(cases), "cases,", len(left_out), "left out,", os.path.getsize(out), "bytes")
