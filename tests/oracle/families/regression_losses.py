"""Losses between numbers."""

from torch import nn

from support.draw import normal
from support.layer import layer

KINDS = {
    nn.MSELoss: {"plain": {}},
    nn.L1Loss: {"plain": {}},
    nn.HuberLoss: {"plain": {}, "delta": dict(delta=0.5)},
    nn.SmoothL1Loss: {"plain": {}, "beta": dict(beta=0.5), "beta_0": dict(beta=0.0)},
}


def cases():
    for kind, settings in KINDS.items():
        for name, arguments in settings.items():
            for reduction in ("mean", "sum", "none"):
                inputs = {"input": normal(7, 6), "target": normal(7, 6)}
                more = dict(reduction=reduction)
                yield layer(kind, f"{name}_{reduction}", arguments | more, inputs)
