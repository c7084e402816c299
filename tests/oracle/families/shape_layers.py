"""Layers that compute nothing."""

from torch import nn

from support.draw import normal
from support.layer import layer


def cases():
    yield layer(nn.Identity, "plain", {}, {"x": normal(3, 4)})
    for name, arguments in (("plain", {}), ("inner", dict(start_dim=1, end_dim=2)),
                            ("from_the_end", dict(start_dim=-3, end_dim=-2))):
        yield layer(nn.Flatten, name, arguments, {"x": normal(2, 3, 4, 2)})
    for name, dim, sizes in (("plain", 1, (2, 3)), ("inferred", -2, (3, -1))):
        arguments = dict(dim=dim, unflattened_size=sizes)
        yield layer(nn.Unflatten, name, arguments, {"x": normal(4, 6, 2)})
