import torch
import torch.nn.functional as F

from ops.case import case, values


def cases():
    x = torch.cat([values(17, scale=2.0), torch.tensor([0.0, -0.0, 3.5, -3.5]).double()])
    for approximate in ("none", "tanh"):
        yield "gelu", case(approximate, lambda x, approximate: F.gelu(x, approximate=approximate),
                           {"x": x}, {"approximate": approximate})
    for name, function in dict(silu=F.silu, sigmoid=torch.sigmoid, tanh=torch.tanh, erf=torch.erf,
                               relu=F.relu, abs=torch.abs, sign=torch.sign).items():
        yield name, case(name, lambda x: function(x), {"x": x})
    inside = {"low": -1.0, "high": 1.0}
    edges = torch.cat([x, torch.tensor([1.0, -1.0]).double()])
    yield "clamp", case("at_edges", lambda x, low, high: x.clamp(low, high), {"x": edges}, inside)
    base = values(9, seed=1).abs() + 0.25
    yield "pow", case("tensor", lambda x, y: x**y, {"x": base, "y": values(9, seed=2)})
    yield "where", case("mask", lambda mask, x, y: torch.where(mask, x, y),
                        {"mask": base > 1, "x": values(9, seed=3), "y": values(9, seed=4)})
