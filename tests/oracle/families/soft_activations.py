"""Smooth activations made of exponentials and logarithms."""

from torch import nn

from support.draw import normal, with_edges
from support.layer import layer

EDGES = with_edges(0.0, -0.0, 3.5, -3.5, 30.0, -30.0)


def cases():
    for kind in (nn.Mish, nn.Softplus, nn.Softsign, nn.LogSigmoid):
        yield layer(kind, "plain", {}, {"x": EDGES})
    yield layer(nn.Softplus, "sharp", dict(beta=4.0, threshold=6.0), {"x": normal(60)})
    for dim in (0, 1, -1):
        yield layer(nn.GLU, f"dim_{dim}", dict(dim=dim), {"x": normal(4, 6, 2)})
