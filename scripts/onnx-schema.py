"""Writes src/onnx/schema.ts, the messages of onnx.proto as data: `/usr/bin/python3 scripts/onnx-schema.py` (Debian's python3-onnx)."""
import onnx
import onnx.onnx_ml_pb2 as proto

KINDS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string", 12: "bytes", 14: "int32"}
# What later versions of onnx.proto added and the importer reads.
LATER = {"FunctionProto": [(11, "attribute_proto", "AttributeProto", True), (13, "overload", "string", False)], "NodeProto": [(8, "overload", "string", False)]}
rows = {}


def short(full):
    return full.replace("onnx.", "").replace(".", "")


def walk(message, name):
    fields = [(f.number, f.name, short(f.message_type.full_name) if f.message_type else KINDS[f.type], f.label == 3) for f in message.fields]
    rows[name] = sorted(fields + LATER.get(name, []))
    for nested in message.nested_types:
        walk(nested, short(nested.full_name))


for name, message in proto.DESCRIPTOR.message_types_by_name.items():
    walk(message, name)
with open("src/onnx/schema.ts", "w") as out:
    print(f"/** The messages of onnx.proto (ONNX {onnx.__version__}, and the fields of later versions that are read), as data: made by scripts/onnx-schema.py. A field is its name and kind; `many` are repeated. */", file=out)
    print("export type Field = readonly [name: string, kind: string, many?: 'many']", file=out)
    print("export const schema: Readonly<Record<string, Readonly<Record<number, Field>>>> = {", file=out)
    for name, fields in sorted(rows.items()):
        print(f"  {name}: {{", file=out)
        for number, field, kind, many in fields:
            print(f"    {number}: ['{field}', '{kind}'{', ' + repr('many') if many else ''}],", file=out)
        print("  },", file=out)
    print("}", file=out)
