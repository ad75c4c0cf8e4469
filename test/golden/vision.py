"""Values and gradients for test/golden/vision.json: `python test/golden/vision.py` (torch 1.13). What PyTorch has not is written here by its definition, in torch's numbers, so that the gradients are torch's; ONNX's published numbers are asserted."""
import math

import numpy as np
import torch
import torch.nn.functional as F

import waves
from waves import case, wave


# ONNX Resize, by its definition: the weights of one axis as a matrix.
def keys(d, a):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def onnx_place(i, n, m, scale, how, region):
    if how == "halfPixel":
        return (i + 0.5) / scale - 0.5
    if how == "halfPixelSymmetric":
        return n / 2 * (1 - m / (scale * n)) + (i + 0.5) / scale - 0.5
    if how == "pytorchHalfPixel":
        return (i + 0.5) / scale - 0.5 if m > 1 else 0.0
    if how == "tfHalfPixelForNn":
        return (i + 0.5) / scale
    if how == "asymmetric":
        return i / scale
    if how == "alignCorners":
        return i * (n - 1) / (m - 1) if m > 1 else 0.0
    start, end = region
    return start * (n - 1) + i * (end - start) * (n - 1) / (m - 1) if m > 1 else 0.5 * (start + end) * (n - 1)


def onnx_axis(n, m, o, at):
    scale = o.get("scale", m / n)
    scale = scale[at] if isinstance(scale, list) else scale
    method = o.get("method", "linear")
    how = o.get("coordinates", "asymmetric" if method == "nearest" else "halfPixel")
    region = o["region"][at] if "region" in o else (0, 1)
    w, outside = np.zeros((m, n)), np.zeros(m, bool)
    for i in range(m):
        x = onnx_place(i, n, m, scale, how, region)
        outside[i] = how == "tfCropAndResize" and (x < 0 or x > n - 1)
        if method == "nearest":
            rounding = o.get("rounding", "floor")
            k = {"floor": math.floor(x), "ceil": math.ceil(x), "roundPreferFloor": math.ceil(x - 0.5), "roundPreferCeil": math.floor(x + 0.5)}[rounding]
            w[i, min(max(k, 0), n - 1)] = 1
            continue
        wide = max(1, 1 / scale) if o.get("antialias") else 1
        reach = math.ceil(2 * wide) + 1
        weights = {}
        for k in range(math.floor(x) - reach, math.floor(x) + reach + 1):
            d = (k - x) / wide
            weights[k] = max(0.0, 1 - abs(d)) if method == "linear" else keys(d, o["cubic"])
        if o["excludeOutside"]:
            weights = {k: v for k, v in weights.items() if 0 <= k < n}
        total = sum(weights.values()) if o["excludeOutside"] or wide > 1 else 1
        for k, v in weights.items():
            w[i, min(max(k, 0), n - 1)] += v / total
    return torch.tensor(w), torch.tensor(outside)


def onnx_resize(x, size, **o):
    y = x
    filled = torch.zeros(size, dtype=torch.bool)
    for at, m in enumerate(size):
        w, outside = onnx_axis(x.shape[2 + at], m, o, at)
        y = torch.moveaxis(torch.tensordot(w, y, ([1], [2 + at])), 0, 2 + at)
        filled = filled | outside.reshape([-1 if i == at else 1 for i in range(len(size))])
    return torch.where(filled, torch.tensor(o.get("extrapolation", 0.0), dtype=y.dtype), y)


def published(got, want, atol=2e-6):
    assert np.allclose(got.numpy().reshape(np.shape(want)), want, rtol=0 if atol > 1e-5 else 1e-5, atol=atol), got


sixteen = torch.arange(1.0, 17).reshape(1, 1, 4, 4)
exact = {"cubic": -0.75, "excludeOutside": False}
published(onnx_resize(sixteen, (3, 3), method="cubic", scale=0.8, **exact), [[1.47119141, 2.78125, 4.08251953], [6.71142578, 8.02148438, 9.32275391], [11.91650391, 13.2265625, 14.52783203]])
published(onnx_resize(sixteen, (3, 3), method="cubic", scale=0.8, cubic=-0.5, excludeOutside=True), [[1.36812675, 2.6695014, 4.0133367], [6.57362535, 7.875, 9.2188353], [11.94896657, 13.25034122, 14.59417652]])
published(onnx_resize(sixteen, (2, 2), method="cubic", scale=0.6, antialias=True, **exact), [[2.5180721, 4.2858863], [9.589329, 11.357142]])
published(onnx_resize(sixteen, (3, 3), method="cubic", antialias=True, **exact), [[1.7750092, 3.1200073, 4.4650054], [7.1550016, 8.5, 9.844998], [12.534994, 13.8799925, 15.224991]])
crop = {"coordinates": "tfCropAndResize", "excludeOutside": False}
published(onnx_resize(sixteen, (3, 3), region=[[0.4, 0.6], [0.6, 0.8]], **crop), [[7.6, 7.9, 8.2], [8.8, 9.1, 9.4], [10, 10.3, 10.6]])
published(onnx_resize(sixteen, (3, 3), region=[[0.4, 1.2], [0.6, 1.7]], extrapolation=10.0, **crop), [[7.6, 10, 10], [12.4, 10, 10], [10, 10, 10]])


def onnx_case(name, x, size, **o):
    antialias = o.get("antialias", False)
    whole = {"cubic": -0.5 if antialias else -0.75, "excludeOutside": antialias, **o}
    case(f"resize, ONNX {name}", "resize", {"size": list(size), **o}, lambda x: onnx_resize(x, size, **whole), [x])


x = wave((2, 3, 5, 4))
for how in ["halfPixel", "halfPixelSymmetric", "pytorchHalfPixel", "asymmetric", "alignCorners"]:
    for method in ["linear", "cubic"]:
        onnx_case(f"{method} {how}", x, (7, 3), method=method, coordinates=how)
        onnx_case(f"{method} {how}, one", x, (1, 6), method=method, coordinates=how)
for how in ["halfPixel", "tfHalfPixelForNn", "asymmetric", "alignCorners"]:
    for rounding in ["floor", "ceil", "roundPreferFloor", "roundPreferCeil"]:
        onnx_case(f"nearest {how} {rounding}", x, (8, 3), method="nearest", coordinates=how, rounding=rounding)
onnx_case("nearest rounded in two", x, (10, 2), method="nearest", rounding="roundPreferFloor")
for axes in [1, 3]:
    onnx_case(f"cubic in {axes}", wave((1, 2, 4, 3, 5)[: 2 + axes]), (3, 5, 4)[:axes], method="cubic", coordinates="asymmetric", cubic=-0.5)
for outside in [False, True]:
    for method in ["linear", "cubic"]:
        onnx_case(f"{method}, outside excluded {outside}", x, (7, 3), method=method, excludeOutside=outside)
        onnx_case(f"{method}, antialias, outside excluded {outside}", x, (2, 7), method=method, antialias=True, excludeOutside=outside)
onnx_case("cubic as Pillow has it", x, (2, 3), method="cubic", antialias=True, cubic=-0.75)
onnx_case("by scale", x, (3, 2), method="linear", scale=[0.7, 0.6])
onnx_case("by scale, symmetric", x, (3, 2), method="linear", scale=[0.7, 0.6], coordinates="halfPixelSymmetric")
onnx_case("by scale, antialias", x, (3, 2), method="cubic", scale=0.6, antialias=True)
onnx_case("crop", x, (3, 5), coordinates="tfCropAndResize", region=[[0.2, 0.7], [0.9, 0.1]])
onnx_case("crop of one", x, (1, 2), coordinates="tfCropAndResize", region=[[0.2, 0.7], [0.1, 0.3]])
onnx_case("crop beyond", x, (4, 3), method="cubic", coordinates="tfCropAndResize", region=[[-0.3, 0.7], [0.4, 1.7]], extrapolation=2.5)

for axes, size in [(1, (9,)), (2, (7, 6)), (3, (4, 5, 6))]:
    x = wave((2, 2, *size))
    pool = [None, F.max_pool1d, F.max_pool2d, F.max_pool3d][axes]
    unpool = [None, F.max_unpool1d, F.max_unpool2d, F.max_unpool3d][axes]
    for o in [{"window": 2}, {"window": 2, "stride": 1, "dilation": 2, "padding": 1}, {"window": 3, "stride": 2, "padding": 1, "ceilMode": True}, {"window": 2, "stride": 2, "dilation": 3, "padding": 1, "ceilMode": True}]:
        how = {"kernel_size": o["window"], "stride": o.get("stride", o["window"]), "padding": o.get("padding", 0), "dilation": o.get("dilation", 1), "ceil_mode": o.get("ceilMode", False)}
        case(f"max pool {axes}, {o}", "maxPool", o, lambda x: pool(x, **how), [x])

        def with_indices(x):
            values, indices = pool(x, **how, return_indices=True)
            return values * indices

        case(f"max pool {axes} with indices, {o}", "maxPoolWithIndices", o, with_indices, [x])
    values, indices = pool(wave((2, 2, *(n - n % 2 for n in size))), 2, return_indices=True)
    case(f"max unpool {axes}", "maxUnpool", {"window": 2}, lambda v, i: unpool(v, i.long(), 2), [wave(values.shape, 5), indices.int()])
    values, indices = pool(x, 2, return_indices=True)
    case(f"max unpool {axes}, to a size", "maxUnpool", {"size": list(size)}, lambda v, i: unpool(v, i.long(), 2, output_size=size), [wave(values.shape, 5), indices.int()])
ties = torch.tensor([[[[1.0, 2, 2, 0], [2, 1, 2, 3], [3, 3, 0, 0], [-1, -1, -1, -1]]]])
case("max pool with indices, equals", "maxPoolWithIndices", {"window": 2, "stride": 1}, lambda x: torch.mul(*F.max_pool2d(x, 2, 1, return_indices=True)), [ties])
case("max pool, equals, dilated", "maxPool", {"window": 2, "stride": 1, "dilation": 2}, lambda x: F.max_pool2d(x, 2, 1, dilation=2), [ties])

# Grids reach beyond the image, further than its size by half.
for corners in [False, True]:
    for padding in ["zeros", "border", "reflection"]:
        for method, mode in [("linear", "bilinear"), ("nearest", "nearest"), ("cubic", "bicubic")]:
            how = {"method": method, "padding": padding, "alignCorners": corners}
            case(f"grid sample, {how}", "gridSample", how, lambda x, g: F.grid_sample(x, g, mode, padding, corners), [wave((2, 2, 4, 5)), wave((2, 3, 6, 2), 1, 1.9)])
            if mode != "bicubic":
                case(f"grid sample of volumes, {how}", "gridSample", how, lambda x, g: F.grid_sample(x, g, mode, padding, corners), [wave((1, 2, 3, 4, 2)), wave((1, 2, 3, 2, 3), 1, 1.9)])
    for padding in ["border", "reflection"]:
        case(f"grid sample of one position, {padding} {corners}", "gridSample", {"alignCorners": corners, "padding": padding}, lambda x, g: F.grid_sample(x, g, "bilinear", padding, corners), [wave((1, 2, 1, 1)), wave((1, 2, 2, 2), 1, 1.9)])
    case(f"grid sample, mirrored often {corners}", "gridSample", {"alignCorners": corners, "padding": "reflection"}, lambda x, g: F.grid_sample(x, g, "bilinear", "reflection", corners), [wave((1, 2, 3, 4)), wave((1, 3, 4, 2), 1, 9.7)])
    how = {"size": [3, 4], "alignCorners": corners}
    case(f"affine grid, {corners}", "affineGrid", how, lambda t: F.affine_grid(t, (2, 1, 3, 4), corners), [wave((2, 2, 3))])
    how = {"size": [2, 3, 1], "alignCorners": corners}
    case(f"affine grid of volumes, {corners}", "affineGrid", how, lambda t: F.affine_grid(t, (2, 1, 2, 3, 1), corners), [wave((2, 3, 4))])
    case(f"spatial transformer, {corners}", "spatial transformer", how, lambda x, t: F.grid_sample(x, F.affine_grid(t, (1, 2, 4, 3), corners), align_corners=corners), [wave((1, 2, 5, 6)), wave((1, 2, 3), 3)])


# RoiAlign, by its definition (torchvision's, which is not here): each sample of its own.
def sample(x, py, px):
    h, w = x.shape[-2:]
    if not (-1 <= float(py) <= h and -1 <= float(px) <= w):
        return torch.zeros(x.shape[:1], dtype=x.dtype)
    py, px = py.clamp(0, h - 1), px.clamp(0, w - 1)
    i, j = int(py), int(px)
    k, l = min(i + 1, h - 1), min(j + 1, w - 1)
    u, v = py - i, px - j
    return x[:, i, j] * (1 - u) * (1 - v) + x[:, i, l] * (1 - u) * v + x[:, k, j] * u * (1 - v) + x[:, k, l] * u * v


def roi_align(x, boxes, images, size, samplingRatio, spatialScale=1.0, aligned=False, mode="avg"):
    offset, out = 0.5 if aligned else 0.0, []
    for b, image in zip(boxes, images):
        x1, y1, x2, y2 = (b * spatialScale - offset).unbind()
        height, width = (y2 - y1, x2 - x1) if aligned else ((y2 - y1).clamp(min=1), (x2 - x1).clamp(min=1))
        for i in range(size[0]):
            for j in range(size[1]):
                samples = [
                    sample(x[int(image)], y1 + height / size[0] * (i + (p + 0.5) / samplingRatio), x1 + width / size[1] * (j + (q + 0.5) / samplingRatio))
                    for p in range(samplingRatio) for q in range(samplingRatio)
                ]
                all = torch.stack(samples)
                out.append(all.mean(0) if mode == "avg" else all.max(0).values)
    return torch.stack(out).reshape(len(boxes), *size, -1).permute(0, 3, 1, 2)


boxes = torch.tensor([[0.3, 0.8, 3.7, 4.1], [-3.2, -2.4, 2.6, 9.3], [2.2, 1.1, 2.7, 1.4], [4.1, 3.9, 1.2, 2.2]])
images = torch.tensor([1, 0, 0, 1], dtype=torch.int32)
for aligned in [False, True]:
    for mode in ["avg", "max"]:
        how = {"size": [2, 3], "samplingRatio": 2, "spatialScale": 0.75, "aligned": aligned, "mode": mode}
        case(f"roi align, {how}", "roiAlign", how, lambda x, b, i: roi_align(x, b, i, **how), [wave((2, 2, 4, 6)), boxes, images])
image_of_onnx = torch.tensor([
    [0.2764, 0.7150, 0.1958, 0.3416, 0.4638, 0.0259, 0.2963, 0.6518, 0.4856, 0.7250], [0.9637, 0.0895, 0.2919, 0.6753, 0.0234, 0.6132, 0.8085, 0.5324, 0.8992, 0.4467],
    [0.3265, 0.8479, 0.9698, 0.2471, 0.9336, 0.1878, 0.4766, 0.4308, 0.3400, 0.2162], [0.0206, 0.1720, 0.2155, 0.4394, 0.0653, 0.3406, 0.7724, 0.3921, 0.2541, 0.5799],
    [0.4062, 0.2194, 0.4473, 0.4687, 0.7109, 0.9327, 0.9815, 0.6320, 0.1728, 0.6119], [0.3097, 0.1283, 0.4984, 0.5068, 0.4279, 0.0173, 0.4388, 0.0430, 0.4671, 0.7119],
    [0.1011, 0.8477, 0.4726, 0.1777, 0.9923, 0.4042, 0.1869, 0.7795, 0.9946, 0.9689], [0.1366, 0.3671, 0.7011, 0.6234, 0.9867, 0.5585, 0.6985, 0.5609, 0.8788, 0.9928],
    [0.5697, 0.8511, 0.6711, 0.9406, 0.8751, 0.7496, 0.1650, 0.1049, 0.1559, 0.2514], [0.7012, 0.4056, 0.7879, 0.3461, 0.0415, 0.2998, 0.5094, 0.3727, 0.5482, 0.0502],
]).reshape(1, 1, 10, 10)
boxes_of_onnx, first = torch.tensor([[0.0, 0, 9, 9], [0, 5, 4, 9], [5, 5, 9, 9]]), torch.zeros(3, dtype=torch.int32)
published(roi_align(image_of_onnx, boxes_of_onnx, first, (5, 5), 2, aligned=True), [
    [[0.5178, 0.3434, 0.3229, 0.4474, 0.6344], [0.4031, 0.5366, 0.4428, 0.4861, 0.4023], [0.2512, 0.4002, 0.5155, 0.6954, 0.3465], [0.335, 0.4601, 0.5881, 0.3439, 0.6849], [0.4932, 0.7141, 0.8217, 0.4719, 0.4039]],
    [[0.307, 0.2187, 0.3337, 0.488, 0.487], [0.1871, 0.4914, 0.5561, 0.4192, 0.3686], [0.1433, 0.4608, 0.5971, 0.531, 0.4982], [0.2788, 0.4386, 0.6022, 0.7, 0.7524], [0.5774, 0.7024, 0.7251, 0.7338, 0.8163]],
    [[0.2393, 0.4075, 0.3379, 0.2525, 0.4743], [0.3671, 0.2702, 0.4105, 0.6419, 0.8308], [0.5556, 0.4543, 0.5564, 0.7502, 0.93], [0.6626, 0.5617, 0.4813, 0.4954, 0.6663], [0.6636, 0.3721, 0.2056, 0.1928, 0.2478]],
], 6e-5)
for aligned in [False, True]:
    how = {"size": [5, 5], "samplingRatio": 2, "aligned": aligned}
    case(f"roi align, ONNX's boxes, {aligned}", "roiAlign", how, lambda x, b, i: roi_align(x, b, i, **how), [image_of_onnx, boxes_of_onnx, first], [0])
case("roi align, one sample", "roiAlign", {"size": [1, 1], "samplingRatio": 1}, lambda x, b, i: roi_align(x, b, i, (1, 1), 1), [wave((2, 2, 4, 6)), boxes, images])


# ONNX DepthToSpace and SpaceToDepth, by their definition; CRD is PyTorch's pixel shuffle.
def depth_to_space(x, r):
    b, c, h, w = x.shape
    return x.reshape(b, r, r, c // r**2, h, w).permute(0, 3, 4, 1, 5, 2).reshape(b, c // r**2, h * r, w * r)


def space_to_depth(x, r):
    b, c, h, w = x.shape
    return x.reshape(b, c, h // r, r, w // r, r).permute(0, 3, 5, 1, 2, 4).reshape(b, c * r * r, h // r, w // r)


sample_of_onnx = torch.tensor([[[[0.0, 1, 2], [3, 4, 5]], [[9, 10, 11], [12, 13, 14]], [[18, 19, 20], [21, 22, 23]], [[27, 28, 29], [30, 31, 32]]]])
published(depth_to_space(sample_of_onnx, 2), [[0, 9, 1, 10, 2, 11], [18, 27, 19, 28, 20, 29], [3, 12, 4, 13, 5, 14], [21, 30, 22, 31, 23, 32]])
case("depth to space", "depthToSpace", {"factor": 2}, lambda x: depth_to_space(x, 2), [wave((2, 8, 2, 3))])
case("depth to space, CRD", "depthToSpace", {"factor": 3, "order": "CRD"}, lambda x: F.pixel_shuffle(x, 3), [wave((1, 18, 2, 1))])
case("space to depth", "spaceToDepth", {"factor": 2}, lambda x: space_to_depth(x, 2), [wave((2, 3, 4, 6))])
case("space to depth, CRD", "spaceToDepth", {"factor": 2, "order": "CRD"}, lambda x: F.pixel_unshuffle(x, 2), [wave((2, 3, 4, 6))])

for size in [1, 2, 3, 5, 9]:
    case(f"local response norm of {size}", "localResponseNorm", {"size": size, "alpha": 0.7, "k": 1.5}, lambda x: F.local_response_norm(x, size, 0.7, 0.75, 1.5), [wave((2, 4, 3), 0, 2.0)])
case("local response norm of planes", "localResponseNorm", {"size": 3}, lambda x: F.local_response_norm(x, 3), [wave((2, 4, 3, 2), 0, 20.0)])


def reverse_sequence(x, lengths):
    return torch.stack([torch.cat([x[: int(n), i].flip(0), x[int(n) :, i]]) for i, n in enumerate(lengths)], 1)


lengths = torch.tensor([4, 3, 2, 1], dtype=torch.int32)
published(reverse_sequence(torch.arange(16.0).reshape(4, 4).T.contiguous(), lengths), [[3, 6, 9, 12], [2, 5, 8, 13], [1, 4, 10, 14], [0, 7, 11, 15]])
case("reverse sequence", "reverseSequence", {}, lambda x, n: reverse_sequence(x, n), [wave((5, 4, 2)), torch.tensor([5, 0, 2, 1], dtype=torch.int32)])
case("reverse sequence, other axes", "reverseSequence", {"axis": 2, "batchAxis": 0}, lambda x, n: torch.stack([torch.cat([r[:, : int(k)].flip(1), r[:, int(k) :]], 1) for r, k in zip(x, n)]), [wave((3, 2, 4)), torch.tensor([4, 3, 2], dtype=torch.int32)])

x = wave((2, 3, 4), 0, 2.0)
for axes in [[0, 1], [-1, 0], [0, 1, 2], [1]]:
    case(f"softmax over {axes}", "softmax", {"axis": axes}, lambda x: (x - torch.logsumexp(x, axes, keepdim=True)).exp(), [x])
    case(f"log softmax over {axes}", "logSoftmax", {"axis": axes}, lambda x: x - torch.logsumexp(x, axes, keepdim=True), [x])
for widths in [(-1, 2), (1, -2), (-1, -2), (0, -3)]:
    case(f"pad by {widths}", "pad", {"widths": [0, 0, list(widths)], "value": 1.5}, lambda x: F.pad(x, widths, value=1.5), [x])
    case(f"pad by {widths} and others", "pad", {"widths": [0, [2, -1], list(widths)], "value": 0}, lambda x: F.pad(x, (*widths, 2, -1)), [x])
    case(f"pad by {widths} with the edge", "pad", {"widths": [0, 0, list(widths)], "mode": "edge"}, lambda x: F.pad(x, widths, "replicate"), [x])


# Non-maximum suppression and the filters of logits, by their definitions.
def nms(boxes, scores, iou=0.5, score=-math.inf, size=None, fill=-1, format="xyxy"):
    b = boxes.numpy().copy()
    if format == "xywh":
        b[:, 2:] += b[:, :2]
    if format == "cxcywh":
        b = np.concatenate([b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2], 1)
    low, high = np.minimum(b[:, :2], b[:, 2:]), np.maximum(b[:, :2], b[:, 2:])
    kept = []
    for i in sorted(range(len(b)), key=lambda i: -float(scores[i])):
        def shared(j):
            s = np.prod(np.maximum(0, np.minimum(high[i], high[j]) - np.maximum(low[i], low[j])))
            return s / (np.prod(high[i] - low[i]) + np.prod(high[j] - low[j]) - s)
        if float(scores[i]) > score and all(shared(j) <= iou for j in kept):
            kept.append(i)
    size = len(b) if size is None else size
    return torch.tensor((kept + [fill] * size)[:size], dtype=torch.int32)


corners = wave((12, 4), 2, 1.0, 2.0)
scores = wave((12,), 5)
for o in [{}, {"iou": 0.2}, {"iou": 0.05, "size": 4}, {"iou": 0.9, "score": 0.1, "fill": 99}, {"iou": 0.3, "format": "xywh", "size": 15}, {"iou": 0.3, "format": "cxcywh"}]:
    case(f"non-maximum suppression {o}", "nonMaxSuppression", o, lambda b, s: nms(b, s, **o), [corners, scores], [])


def top_k(x, k, axis=-1):
    return torch.where(x < torch.topk(x, k, axis).values.narrow(axis, k - 1, 1), torch.tensor(-math.inf), x)


def top_p(x, p, axis=-1, least=1):
    values, places = torch.sort(x, axis, descending=True)
    before = torch.softmax(values, axis).cumsum(axis).roll(1, axis)
    before.select(axis, 0)[...] = 0
    gone = before >= p
    gone.narrow(axis, 0, least)[...] = False
    return torch.where(torch.zeros_like(gone).scatter(axis, places, gone), torch.tensor(-math.inf), x)


x = wave((3, 5), 0, 2.0)
for o in [{"k": 1}, {"k": 3}, {"k": 2, "axis": 0}]:
    case(f"top k {o}", "softmax of topkFilter", o, lambda x: torch.softmax(top_k(x, **o), o.get("axis", -1)), [x])
for o in [{"p": 0.3}, {"p": 0.8}, {"p": 0.9, "axis": 0}, {"p": 0.2, "least": 3}, {"p": 0.0}, {"p": 1.0}]:
    case(f"top p {o}", "softmax of toppFilter", o, lambda x: torch.softmax(top_p(x, **o), o.get("axis", -1)), [x])

waves.write("vision.json")
