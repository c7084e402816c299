"""Dropout where it draws nothing: the random part is tested by its statistics."""

from torch import nn

from support.draw import normal
from support.layer import layer


def cases():
    for kind in (nn.Dropout, nn.Dropout2d, nn.AlphaDropout):
        yield layer(kind, "eval", dict(p=0.25), {"x": normal(2, 3, 4, 4)}, training=False)
        yield layer(kind, "p_0", dict(p=0.0), {"x": normal(2, 3, 4, 4)})
