"""Writes the fixtures of test/train/safetensors.test.ts with the libraries that define the format: python3 make.py FOLDER

Needs safetensors, numpy, torch. Run with FOLDER this one; made with safetensors 0.8.0, numpy 2.4.6, torch 2.13.0.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file as save_numpy
from safetensors.torch import save_file as save_torch

folder = Path(sys.argv[1])

# Every dtype that codual reads, rank 0 and empty axes among the shapes.
save_torch(
    {
        "f64": torch.tensor([[1.5, -0.0], [float("inf"), 1e-310]], dtype=torch.float64),
        "f32": torch.tensor([3.25, float("-inf"), 1e-40], dtype=torch.float32),
        "i32": torch.tensor([-(2**31), 2**31 - 1], dtype=torch.int32),
        "bool": torch.tensor([True, False, True]),
        "f16": torch.tensor([1.0, -2.5, 65504.0, 6e-8, float("inf"), 0.333251953125], dtype=torch.float16),
        "bf16": torch.tensor([1.0, -3.140625, 3e38, 1e-40], dtype=torch.bfloat16),
        "u8": torch.tensor([0, 255], dtype=torch.uint8),
        "i8": torch.tensor([-128, 127], dtype=torch.int8),
        "i16": torch.tensor([-32768, 32767], dtype=torch.int16),
        "i64": torch.tensor([-(2**31), 2**31 - 1], dtype=torch.int64),
        "scalar": torch.tensor(7.0, dtype=torch.float32),
        "empty": torch.zeros((2, 0, 3), dtype=torch.float32),
        "layer.0.w": torch.arange(6, dtype=torch.float32).reshape(2, 3),
        "layer.1.w": torch.arange(6, dtype=torch.float32).reshape(3, 2) / 8,
    },
    folder / "dtypes.safetensors",
    metadata={"made": "by Python", "ünï": "cödé"},
)
# What codual writes of the same tensors is these bytes.
save_numpy(
    {
        "b": np.array([True, False]),
        "layer.0.w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "layer.1.b": np.array([1, -2, 3], dtype=np.int32),
        "layer.1.w": np.array([[0.5], [-0.25]], dtype=np.float64),
        "s": np.array(2.5, dtype=np.float64),
        "ö": np.zeros((0, 4), dtype=np.float32),
    },
    folder / "layers.safetensors",
    metadata={"model": "two layers"},
)
# An integer that no i32 holds.
save_numpy({"big": np.array([1, 2**31], dtype=np.int64)}, folder / "wide.safetensors")
