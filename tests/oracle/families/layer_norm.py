"""Norms of rows."""

from torch import nn

from support.begin import begin
from support.draw import normal
from support.layer import layer


def cases():
    for name, more in (("plain", {}), ("without_affine", dict(elementwise_affine=False)),
                       ("without_bias", dict(bias=False)), ("large_eps", dict(eps=0.5))):
        arguments = dict(normalized_shape=[24]) | more
        yield layer(nn.LayerNorm, name, arguments, {"x": normal(3, 5, 24)})
    for name, more in (("two_dims", {}), ("two_dims_without_bias", dict(bias=False))):
        arguments = dict(normalized_shape=[4, 6]) | more
        yield layer(nn.LayerNorm, name, arguments, {"x": normal(3, 4, 6)})
    for name, more in (("default_eps", {}), ("plain", dict(eps=1e-6)),
                       ("without_affine", dict(elementwise_affine=False))):
        arguments = dict(normalized_shape=[24]) | more
        yield layer(nn.RMSNorm, name, arguments, {"x": normal(3, 5, 24)})
    yield begin(nn.LayerNorm, "fresh", dict(normalized_shape=[30]))
    yield begin(nn.RMSNorm, "fresh", dict(normalized_shape=[30], eps=1e-6))
