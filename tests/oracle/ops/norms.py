import torch.nn.functional as F

from ops.case import case, values


def layer_norm(x, eps, weight=None, bias=None):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


def rms_norm(x, eps, weight=None):
    return F.rms_norm(x, x.shape[-1:], weight, eps)


def cases():
    inputs = {"x": values(3, 5, 24), "weight": values(24, seed=1), "bias": values(24, seed=2)}
    attrs = {"eps": 1e-5}
    for names in (("x",), ("x", "weight"), ("x", "weight", "bias")):
        chosen = {name: inputs[name] for name in names}
        yield "layer_norm", case("_".join(names), layer_norm, chosen, attrs)
        if "bias" not in names:
            yield "rms_norm", case("_".join(names), rms_norm, chosen, attrs)
    far = {"x": values(3, 5, 24) / 16 + 1000}
    # In f32 the mean alone is off by a thousandth of the deviation.
    yield "layer_norm", case("far_from_zero", layer_norm, far, attrs) | {"f32": False}
    constant = {"x": values(3, 1).expand(3, 8).contiguous()}
    yield "layer_norm", case("constant_rows", layer_norm, constant, attrs)
