"""The affine map."""

from torch import nn

from support.begin import begin
from support.draw import normal
from support.layer import layer


def cases():
    for name, more in (("plain", {}), ("without_bias", dict(bias=False)),
                       ("one_output", dict(out_features=1))):
        arguments = dict(in_features=24, out_features=7) | more
        yield layer(nn.Linear, name, arguments, {"x": normal(6, 24)})
    arguments = dict(in_features=8, out_features=5)
    yield layer(nn.Linear, "four_dims", arguments, {"x": normal(2, 3, 4, 8)})
    yield layer(nn.Linear, "one_row", arguments, {"x": normal(8)})
    yield begin(nn.Linear, "fresh", dict(in_features=300, out_features=200))
