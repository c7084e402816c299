"""Activations that are smooth, and the rectifier."""

from torch import nn

from support.draw import normal, with_edges
from support.layer import layer

EDGES = with_edges(0.0, -0.0, 3.5, -3.5, 1 / 64, -1 / 64)


def cases():
    for approximate in ("none", "tanh"):
        yield layer(nn.GELU, approximate, dict(approximate=approximate), {"x": EDGES})
    for kind in (nn.ReLU, nn.SiLU, nn.Sigmoid, nn.Tanh):
        yield layer(kind, "plain", {}, {"x": EDGES})
    for kind in (nn.Softmax, nn.LogSoftmax):
        for dim in (0, 1, -1):
            yield layer(kind, f"dim_{dim}", dict(dim=dim), {"x": normal(4, 5, 6)})
