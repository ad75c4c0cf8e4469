"""Milliseconds of Fourier transforms in SciPy and NumPy, one thread: a line of JSON, { row: [scipy, numpy] }. bench/fft.ts runs it with its rows."""
import json
import sys
import time

import numpy as np
import scipy.fft
import scipy.signal


def best(f, calls, rounds=15):
    f()
    least = float('inf')
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            f()
        least = min(least, (time.perf_counter() - start) / calls)
    return 1e3 * least


out = {}
for row in json.loads(sys.argv[1]):
    shape, axis, wide = row['shape'], row['axis'], row['dtype'] == 'f64'
    real = np.sin(0.37 * np.arange(np.prod(shape), dtype=np.float64) ** 1.5).reshape(shape).astype(np.float64 if wide else np.float32)
    pair = (real + 1j * np.cos(real)).astype(np.complex128 if wide else np.complex64)
    n, size, hop = shape[axis], 1024, 256
    window = scipy.signal.get_window('hann', size).astype(real.dtype)

    def stft(of):
        frames = np.lib.stride_tricks.sliding_window_view(np.pad(real, size // 2, mode='reflect'), size)[::hop]
        return of.rfft(frames * window)

    call = {
        'fft': lambda of: of.fft(pair, axis=axis),
        'ifft': lambda of: of.ifft(pair, axis=axis),
        'rfft': lambda of: of.rfft(real, axis=axis),
        'irfft': lambda of: of.irfft(pair, axis=axis),
        'fft2': lambda of: of.fft2(pair),
        'stft': stft,
    }[row['op']]
    out[row['name']] = [best(lambda of=of: call(of), max(1, round(1e5 / real.size))) for of in (scipy.fft, np.fft)]
print(json.dumps(out))
