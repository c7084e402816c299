"""The bilinear map."""

from torch import nn

from support.begin import begin
from support.draw import normal
from support.layer import layer


def call(module, inputs):
    """PyTorch wants one dtype."""
    return module(*(x.to(module.weight.dtype) for x in inputs.values()))


def cases():
    for name, bias in (("plain", True), ("without_bias", False)):
        arguments = dict(in1_features=5, in2_features=4, out_features=6, bias=bias)
        yield layer(nn.Bilinear, name, arguments, {"x1": normal(7, 5), "x2": normal(7, 4)},
                    call=call)
    arguments = dict(in1_features=3, in2_features=4, out_features=2)
    inputs = {"x1": normal(2, 5, 3), "x2": normal(2, 5, 4)}
    yield layer(nn.Bilinear, "three_dims", arguments, inputs, call=call)
    yield begin(nn.Bilinear, "fresh", dict(in1_features=40, in2_features=30, out_features=20))
