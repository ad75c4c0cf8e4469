"""PNG files of every type for test/golden/png.json, in base64, with the pixels that Pillow reads: `/usr/bin/python3 test/golden/png.py` (Pillow 9.4)."""
import base64
import io
import json
import struct
import zlib

import numpy as np
from PIL import Image

files = {}
rng = np.random.default_rng(5)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed(row, depth):
    """Samples of a row as bytes."""
    if depth == 16:
        return row.astype(">u2").tobytes()
    if depth == 8:
        return row.astype("u1").tobytes()
    bits = "".join(format(int(x), f"0{depth}b") for x in row)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def filtered(rows, step):
    """Each row by another of the five filters."""
    out, before = b"", bytes(len(rows[0]))
    for k, row in enumerate(rows):
        kind, line = k % 5, bytearray()
        for i, x in enumerate(row):
            a = row[i - step] if i >= step else 0
            b, c = before[i], before[i - step] if i >= step else 0
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line.append((x - [0, a, b, (a + b) // 2, near][kind]) & 255)
        out += bytes([kind]) + bytes(line)
        before = row
    return out


def png(image, depth, colour, interlace=False, extra=b"", split=1):
    h, w, c = image.shape
    step = max(1, depth * c // 8)
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)] if interlace else [(0, 0, 1, 1)]
    data = b""
    for y, x, dy, dx in passes:
        part = image[y::dy, x::dx]
        if part.size:
            data += filtered([packed(row.reshape(-1), depth) for row in part], step)
    data = zlib.compress(data)
    parts = [data[i * len(data) // split : (i + 1) * len(data) // split] for i in range(split)]
    head = struct.pack(">IIBBBBB", w, h, depth, colour, 0, 0, int(interlace))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + b"".join(chunk(b"IDAT", p) for p in parts) + chunk(b"IEND", b"")


def put(name, content, mode=None, expected=None):
    read = Image.open(io.BytesIO(content))
    if mode:
        read = read.convert(mode)
    pixels = np.asarray(read).astype(int)
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    if expected is not None:  # what Pillow cannot hold: 16 bits of colours
        assert np.array_equal(pixels >> 0, expected >> 8), name
        pixels = expected
    files[name] = {"bytes": base64.b64encode(content).decode(), "shape": list(pixels.shape), "data": pixels.reshape(-1).tolist()}


def image(channels, depth, h=7, w=9):
    return rng.integers(0, 2**depth, (h, w, channels))


for depth in [1, 2, 4, 8]:
    put(f"grey, {depth} bits", png(image(1, depth), depth, 0), "L")
put("grey, 16 bits", png(image(1, 16), 16, 0))
put("grey and alpha", png(image(2, 8), 8, 4))
put("colour", png(image(3, 8), 8, 2), "RGB")
put("colour and alpha", png(image(4, 8), 8, 6))
rgb16 = image(3, 16)
put("colour, 16 bits", png(rgb16, 16, 2), "RGB", rgb16)
for depth in [1, 2, 4, 8]:
    size = min(2**depth, 40)
    palette = chunk(b"PLTE", rng.integers(0, 256, size * 3).astype("u1").tobytes())
    put(f"palette, {depth} bits", png(rng.integers(0, size, (5, 6, 1)), depth, 3, extra=palette), "RGB")
put("palette with alpha", png(rng.integers(0, 4, (5, 6, 1)), 8, 3, extra=chunk(b"PLTE", bytes(range(12))) + chunk(b"tRNS", bytes([9, 0, 200]))), "RGBA")
put("interlaced", png(image(3, 8), 8, 2, True), "RGB")
put("interlaced, 1 bit", png(image(1, 1), 1, 0, True), "L")
put("interlaced, 1 x 1", png(image(1, 8, 1, 1), 8, 0, True), "L")
put("in parts, with other chunks", png(image(3, 8), 8, 2, extra=chunk(b"gAMA", struct.pack(">I", 45455)) + chunk(b"tEXt", b"Title\0x"), split=3), "RGB")
with open("test/golden/png.json", "w") as out:
    json.dump(files, out, indent=None, separators=(",", ":"))
    out.write("\n")
print(len(files), "files")
