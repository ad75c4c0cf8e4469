"""Values and gradients of PyTorch for test/golden/nn.json: `python test/golden/nn.py` (torch 2.13). Inputs are sin(1 + k + 3 i), scaled; the loss is sum(y cos(i))."""
import torch
import torch.nn.functional as F

import waves
from waves import case, wave

x = wave((3, 4), 0, 3.0)
for name, fn, options, f in [
    ("celu", "celu", {"alpha": 1.5}, lambda x: F.celu(x, 1.5)), ("hardsigmoid", "hardSigmoid", None, lambda x: torch.clamp((x + 3) / 6, 0, 1)),
    ("hardswish", "hardSwish", None, lambda x: x * torch.clamp((x + 3) / 6, 0, 1)), ("hardtanh", "hardTanh", None, F.hardtanh),
    ("softshrink", "softShrink", {"lambda": 0.7}, lambda x: F.softshrink(x, 0.7)), ("hardshrink", "hardShrink", {"lambda": 0.7}, lambda x: F.hardshrink(x, 0.7)),
    ("tanhshrink", "tanhShrink", None, F.tanhshrink), ("lisht", "lisht", None, lambda x: x * torch.tanh(x)),
    ("logcosh", "logCosh", None, lambda x: torch.log(torch.cosh(x))), ("glu", "glu", None, F.glu), ("glu of rows", "glu", {"axis": 0}, lambda x: F.glu(x[:2], 0)),
]:
    case(name, fn, options, f, [x if name != "glu of rows" else x[:2]])

t = wave((3, 4), 5)
for r in ["mean", "sum", "none"]:
    case(f"mse {r}", "mseLoss", {"reduction": r}, lambda x, t, r=r: F.mse_loss(x, t, reduction=r), [x, t])
case("l1", "l1Loss", None, F.l1_loss, [x, t])
case("huber", "huberLoss", {"delta": 1.3}, lambda x, t: F.huber_loss(x, t, delta=1.3), [x, t])
case("smooth l1", "smoothL1Loss", {"beta": 0.6}, lambda x, t: F.smooth_l1_loss(x, t, beta=0.6), [x, t])
p = wave((3, 4), 2, 0.4, 0.5)
case("bce", "bceWithLogits", None, F.binary_cross_entropy_with_logits, [x, p])
case("bce of probabilities", "binaryCrossEntropy", None, F.binary_cross_entropy, [wave((3, 4), 4, 0.4, 0.5), p])
case("kl", "klDivLoss", {"reduction": "sum"}, lambda x, t: F.kl_div(x, t, reduction="sum"), [torch.log_softmax(x, 1), torch.softmax(t, 1)])
case("kl of logarithms", "klDivLoss", {"reduction": "none", "logTarget": True}, lambda x, t: F.kl_div(x, t, reduction="none", log_target=True), [torch.log_softmax(x, 1), torch.log_softmax(t, 1)])
case("cosine", "cosineSimilarity", None, lambda a, b: F.cosine_similarity(a, b, dim=-1), [x, t])
case("cosine of columns", "cosineSimilarity", {"axis": 0}, lambda a, b: F.cosine_similarity(a, b, dim=0), [x, t])
c = torch.tensor([1, 3, 0], dtype=torch.int32)
case("cross entropy, smoothed", "crossEntropy", {"labelSmoothing": 0.2}, lambda x, c: F.cross_entropy(x, c.long(), label_smoothing=0.2), [x, c])
case("cross entropy of probabilities, smoothed", "crossEntropy", {"labelSmoothing": 0.1}, lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), [x, torch.softmax(t, 1)])
case("nll", "nllLoss", None, lambda x, c: F.nll_loss(x, c.long()), [torch.log_softmax(x, 1), c])

w = wave((4,), 6, 0.5, 1.0)
ignoring = torch.tensor([1, -100, 0], dtype=torch.int32)
scores = wave((3, 4, 2), 3, 2.0)
planes = torch.tensor([[1, 3], [-100, 0], [2, 2]], dtype=torch.int32)
for r in ["mean", "sum", "none"]:
    case(f"cross entropy {r}, ignoring", "crossEntropy", {"ignoreIndex": -100, "reduction": r}, lambda x, c, r=r: F.cross_entropy(x, c.long(), reduction=r), [x, ignoring])
    case(f"cross entropy {r}, weighted", "crossEntropy, weighted", {"ignoreIndex": -100, "reduction": r, "labelSmoothing": 0.3, "axis": 1}, lambda x, c, w, r=r: F.cross_entropy(x, c.long(), w, reduction=r, label_smoothing=0.3), [scores, planes, w], [0])
case("cross entropy of probabilities, weighted", "crossEntropy, weighted", {"labelSmoothing": 0.1}, lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1), [x, torch.softmax(t, 1), w], [0])
case("nll, weighted", "nllLoss, weighted", {"ignoreIndex": -100}, lambda x, c, w: F.nll_loss(x, c.long(), w), [torch.log_softmax(x, 1), ignoring, w], [0])


def focal(x, z, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(x)
    ce = F.binary_cross_entropy_with_logits(x, z, reduction="none")
    pt = p * z + (1 - p) * (1 - z)
    return ((alpha * z + (1 - alpha) * (1 - z)) * ce * (1 - pt) ** gamma).mean()


case("focal", "focalLoss", None, focal, [x, (t > 0).double()], [0])
lengths = [torch.tensor(v, dtype=torch.int32) for v in ([6, 5, 4], [3, 2, 1])]
ctc = [wave((6, 3, 4), 1, 1.5), torch.tensor([[1, 2, 2], [3, 1, 0], [2, 0, 0]], dtype=torch.int32), *lengths]
for r in ["mean", "sum", "none"]:
    case(f"ctc {r}", "ctcLoss of logits", {"reduction": r}, lambda x, c, i, l, r=r: F.ctc_loss(torch.log_softmax(x, 2), c.long(), i.long(), l.long(), reduction=r), ctc)
bad = [wave((2, 2, 3), 1), torch.tensor([[1, 1], [2, 0]], dtype=torch.int32), torch.tensor([2, 2], dtype=torch.int32), torch.tensor([2, 1], dtype=torch.int32)]
case("ctc, one impossible", "ctcLoss of logits", {"reduction": "none", "zeroInfinity": True}, lambda x, c, i, l: F.ctc_loss(torch.log_softmax(x, 2), c.long(), i.long(), l.long(), reduction="none", zero_infinity=True), bad)

x4, s, b = wave((2, 6, 3, 4)), wave((6,), 3), wave((6,), 4)
case("group norm", "groupNorm", {"groups": 3}, lambda x, s, b: F.group_norm(x, 3, s, b), [x4, s, b])
case("instance norm", "instanceNorm", {}, lambda x, s, b: F.instance_norm(x, weight=s, bias=b), [x4, s, b])
case("rms norm", "rmsNorm", {"eps": 1e-5}, lambda x, s: F.rms_norm(x, (4,), s, 1e-5), [x4, wave((4,), 3)])

q, k, v = wave((2, 3, 5, 4)), wave((2, 3, 6, 4), 1), wave((2, 3, 6, 2), 2)
case("attention", "scaledDotProductAttention", None, F.scaled_dot_product_attention, [q, k, v])
case("attention, causal", "scaledDotProductAttention", {"causal": True}, lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), [q, k, v])
case("attention, scaled", "scaledDotProductAttention", {"scale": 0.3}, lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3), [q, k, v])
mask = wave((5, 6), 7) > -0.3
case("attention, masked", "scaledDotProductAttention, masked", None, lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), [q, k, v, mask])
case("attention, biased", "scaledDotProductAttention, masked", None, lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), [q, k, v, wave((3, 5, 6), 7)])
case("attention, grouped heads", "scaledDotProductAttention", None, lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), [wave((2, 6, 5, 4)), k, v])
case("attention, grouped heads, biased", "scaledDotProductAttention, masked", None, lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, enable_gqa=True), [wave((2, 6, 5, 4)), k, v, wave((2, 6, 5, 6), 7)])

for axes, sizes, window in [(1, (7,), (3,)), (2, (5, 6), (2, 3)), (3, (3, 4, 3), (2, 3, 2))]:
    conv = [None, F.conv1d, F.conv2d, F.conv3d][axes]
    back = [None, F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][axes]
    x = wave((1 if axes == 3 else 2, 4, *sizes))
    case(f"conv {axes}", "conv", {"stride": 2, "padding": 1}, lambda x, k, conv=conv: conv(x, k, stride=2, padding=1), [x, wave((3, 4, *window), 1)])
    case(f"conv {axes}, dilated in groups", "conv", {"dilation": 2, "groups": 2, "padding": 2}, lambda x, k, conv=conv: conv(x, k, dilation=2, groups=2, padding=2), [x, wave((6, 2, *window), 1)])
    case(f"conv transpose {axes}", "convTranspose", {"stride": 2, "padding": 1, "outputPadding": 1}, lambda x, k, back=back: back(x, k, stride=2, padding=1, output_padding=1), [x, wave((4, 3, *window), 1)])
    case(f"conv transpose {axes}, dilated in groups", "convTranspose", {"dilation": 2, "groups": 2}, lambda x, k, back=back: back(x, k, dilation=2, groups=2), [x, wave((4, 3, *window), 1)])
    pool, mean = [None, F.max_pool1d, F.max_pool2d, F.max_pool3d][axes], [None, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d][axes]
    case(f"max pool {axes}", "maxPool", {"window": 2, "stride": 1, "padding": 1}, lambda x, pool=pool: pool(x, 2, 1, 1), [x])
    case(f"avg pool {axes}", "avgPool", {"window": 2, "padding": 1}, lambda x, mean=mean: mean(x, 2, 2, 1, count_include_pad=False), [x])
    case(f"avg pool {axes} with padding", "avgPool", {"window": 2, "padding": 1, "countIncludePad": True}, lambda x, mean=mean: mean(x, 2, 2, 1), [x])
    case(f"max pool {axes}, rounded up", "maxPool", {"window": 2, "stride": 3, "padding": 1, "ceilMode": True}, lambda x, pool=pool: pool(x, 2, 3, 1, 1, True), [x])
    for whole in [False, True]:
        case(f"avg pool {axes}, rounded up {whole}", "avgPool", {"window": 3, "stride": 2, "padding": 1, "ceilMode": True, "countIncludePad": whole}, lambda x, mean=mean, whole=whole: mean(x, 3, 2, 1, True, whole), [x])
    case(f"conv transpose {axes}, padded by a stride", "convTranspose", {"stride": 2, "dilation": 3, "outputPadding": 2, "padding": 1}, lambda x, k, back=back: back(x, k, stride=2, dilation=3, output_padding=2, padding=1), [x, wave((4, 3, *window), 1)])
    size = (2, 3, 2)[:axes]
    adaptive = [None, F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d][axes]
    most = [None, F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d][axes]
    case(f"adaptive avg pool {axes}", "adaptiveAvgPool", {"size": list(size)}, lambda x, f=adaptive, size=size: f(x, size), [x])
    case(f"adaptive max pool {axes}", "adaptiveMaxPool", {"size": list(size)}, lambda x, f=most, size=size: f(x, size), [x])
    mode = ["", "linear", "bilinear", "trilinear"][axes]
    to = tuple(n * 2 - 1 - i for i, n in enumerate(sizes))
    case(f"resize {axes}", "resize", {"size": list(to)}, lambda x, mode=mode, to=to: F.interpolate(x, to, mode=mode), [x])
    case(f"resize {axes}, corners", "resize", {"size": 3, "alignCorners": True}, lambda x, mode=mode, axes=axes: F.interpolate(x, (3,) * axes, mode=mode, align_corners=True), [x])
    case(f"resize {axes}, nearest", "resize", {"size": list(to), "method": "nearest"}, lambda x, to=to: F.interpolate(x, to, mode="nearest"), [x])
x = wave((2, 3, 5, 6))
for corners in [False, True]:
    case(f"resize, cubic {corners}", "resize", {"size": [8, 4], "method": "cubic", "alignCorners": corners}, lambda x, c=corners: F.interpolate(x, (8, 4), mode="bicubic", align_corners=c), [x])
case("resize, nearest middle", "resize", {"size": [8, 4], "method": "nearest-exact"}, lambda x: F.interpolate(x, (8, 4), mode="nearest-exact"), [x])
for method, mode in [("linear", "bilinear"), ("cubic", "bicubic")]:
    for to in [(2, 3), (8, 4)]:
        case(f"resize, {method} {to}, smoothed", "resize", {"size": list(to), "method": method, "antialias": True}, lambda x, mode=mode, to=to: F.interpolate(x, to, mode=mode, antialias=True), [x])
case("unfold", "unfold", {"window": [2, 3], "stride": [1, 2], "padding": 1, "dilation": [2, 1]}, lambda x: F.unfold(x, (2, 3), dilation=(2, 1), padding=1, stride=(1, 2)), [x])
case("fold", "fold", {"size": [5, 6], "window": [2, 3], "stride": [1, 2], "padding": 1, "dilation": [2, 1]}, lambda x: F.fold(x, (5, 6), (2, 3), dilation=(2, 1), padding=1, stride=(1, 2)), [F.unfold(x, (2, 3), dilation=(2, 1), padding=1, stride=(1, 2))])
case("pixel shuffle", "pixelShuffle", {"factor": 2}, lambda x: F.pixel_shuffle(x, 2), [wave((2, 8, 2, 3))])
case("pixel unshuffle", "pixelUnshuffle", {"factor": 2}, lambda x: F.pixel_unshuffle(x, 2), [wave((2, 2, 4, 6))])

waves.write("nn.json")
