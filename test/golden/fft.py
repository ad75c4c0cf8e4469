"""Transforms by NumPy, convolutions by NumPy and frames by PyTorch: test/golden/fft.json."""
import json
from pathlib import Path

import numpy as np
import torch
from scipy.signal.windows import hann

rng = np.random.default_rng(3)
later = np.random.default_rng(4)
rounded = lambda shape: rng.normal(size=shape).round(3)  # noqa: E731
rows = []


def add(name, x, y, options=None, im=None):
    y = np.asarray(y)
    row = {'name': name, 're': x.tolist(), 'options': options or {}, 'y': y.real.tolist()}
    if im is not None:
        row['im'] = im.tolist()
    if np.iscomplexobj(y):
        row['yIm'] = y.imag.tolist()
    rows.append(row)


for n, norm in [(1, None), (2, 'ortho'), (5, 'forward'), (12, None), (67, 'ortho'), (70, None), (96, 'forward')]:
    a, b = rounded(n), rounded(n)
    o = {} if norm is None else {'norm': norm}
    for name in ['fft', 'ifft']:
        add(name, a, getattr(np.fft, name)(a + 1j * b, **o), o, b)
    add('rfft', a, np.fft.rfft(a, **o), o)
    if n > 1:
        add('irfft', a, np.fft.irfft(a + 1j * b, **o), o, b)
        add('irfft', a, np.fft.irfft(a + 1j * b, n=n + 1, **o), {**o, 'n': n + 1}, b)
a, b = rounded((3, 4, 5)), rounded((3, 4, 5))
for o in [{'axis': 0}, {'axis': 1, 'n': 6}, {'axis': -2, 'n': 3}, {'axis': -1, 'n': 1}]:
    add('fft', a, np.fft.fft(a + 1j * b, **o), o, b)
    add('rfft', a, np.fft.rfft(a, **o), o)
    add('irfft', a, np.fft.irfft(a + 1j * b, **o), o, b)
for name in ['fftn', 'ifftn', 'fft2', 'ifft2']:
    add(name, a, getattr(np.fft, name)(a + 1j * b), {}, b)
    o = {'s': [2, 6], 'axes': [2, 0], 'norm': 'ortho'}
    add(name, a, getattr(np.fft, name)(a + 1j * b, **o), o, b)
add('rfftn', a, np.fft.rfftn(a))
add('rfftn', a, np.fft.rfftn(a, s=[3, 6], axes=[0, 2]), {'s': [3, 6], 'axes': [0, 2]})
add('irfftn', a, np.fft.irfftn(a + 1j * b), {}, b)
add('irfftn', a, np.fft.irfftn(a + 1j * b, s=[4, 7], axes=[1, 2]), {'s': [4, 7], 'axes': [1, 2]}, b)
for shape in [(4,), (5,), (2, 3)]:
    x = rounded(shape)
    for name in ['fftshift', 'ifftshift']:
        add(name, x, getattr(np.fft, name)(x))
        add(name, x, getattr(np.fft, name)(x, axes=-1), {'axes': -1})
signals = rounded((2, 40))
window = rounded(12)
for o in [{'size': 16}, {'size': 12, 'hop': 5, 'window': window.tolist()}, {'size': 9, 'hop': 4, 'center': False}]:
    size = o['size']
    w = torch.tensor(o['window'], dtype=torch.float64) if 'window' in o else torch.tensor(hann(size, sym=False))
    y = torch.stft(torch.tensor(signals), size, o.get('hop', size // 4), window=w, center=o.get('center', True), return_complex=True).numpy()
    add('stft', signals, y, o)
for o in [{'size': 16}, {'size': 12, 'hop': 5, 'window': (2 + window).tolist()}, {'size': 9, 'hop': 4, 'center': False, 'window': (3 + window[:9]).tolist()},
          {'size': 8, 'hop': 3, 'length': 10}, {'size': 8, 'hop': 8, 'window': [1] * 8, 'length': 40}]:
    size = o['size']
    w = torch.tensor(o['window'], dtype=torch.float64) if 'window' in o else torch.tensor(hann(size, sym=False))
    a, b = later.normal(size=(2, size // 2 + 1, 5)).round(3), later.normal(size=(2, size // 2 + 1, 5)).round(3)
    rest = {'center': o.get('center', True), 'length': o.get('length')}
    y = torch.istft(torch.tensor(a + 1j * b), size, o.get('hop', size // 4), window=w, **rest).numpy()
    add('istft', a, y, o, b)
a, b = later.normal(size=(2, 4, 5)).round(3), later.normal(size=(2, 4, 5)).round(3)
for o in [{}, {'s': [3, 6], 'axes': [0, 2], 'norm': 'ortho'}]:
    add('rfft2', a, np.fft.rfft2(a, **o), o)
    add('irfft2', a, np.fft.irfft2(a + 1j * b, **o), o, b)
convolutions = []
for n, m in [(1, 1), (5, 3), (3, 5), (8, 4), (30, 41)]:
    x, y = rounded(n), rounded(m)
    convolutions.append([x.tolist(), y.tolist(), np.convolve(x, y).tolist()])
windows = {name: [[n, getattr(np, numpy)(n).tolist()] for n in (1, 2, 5, 8)] for name, numpy in [('hann', 'hanning'), ('hamming', 'hamming'), ('blackman', 'blackman')]}
windows['kaiser'] = [[n, np.kaiser(n, 5.5).tolist()] for n in (1, 2, 5, 8)]
frequencies = {name: [[n, getattr(np.fft, name)(n, 0.25).tolist()] for n in (1, 2, 5, 8)] for name in ('fftfreq', 'rfftfreq')}
out = {'rows': rows, 'convolutions': convolutions, 'windows': windows, 'frequencies': frequencies}
Path(__file__).with_suffix('.json').write_text(json.dumps(out, separators=(',', ':')) + '\n')
