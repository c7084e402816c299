"""Pools. Inputs are coarse, so that windows hold equal numbers."""

from torch import nn

from support.draw import normal
from support.layer import layer

INPUTS = {1: (2, 3, 11), 2: (2, 3, 7, 8), 3: (2, 3, 5, 6, 4)}
MAX = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}
AVERAGE = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}
ADAPTIVE = {1: nn.AdaptiveAvgPool1d, 2: nn.AdaptiveAvgPool2d, 3: nn.AdaptiveAvgPool3d}

SHARED = {
    "plain": dict(kernel_size=2),
    "overlapping": dict(kernel_size=3, stride=2, padding=1),
    "ceil": dict(kernel_size=3, stride=2, ceil_mode=True),
    "padded_ceil": dict(kernel_size=3, stride=2, padding=1, ceil_mode=True),
}


def coarse(*shape):
    return lambda random: (normal(*shape)(random) * 2).round() / 2


def cases():
    for dims, shape in INPUTS.items():
        for name, arguments in SHARED.items():
            yield layer(MAX[dims], name, arguments, {"x": coarse(*shape)})
            yield layer(AVERAGE[dims], name, arguments, {"x": normal(*shape)})
        yield layer(MAX[dims], "dilated", dict(kernel_size=2, stride=1, dilation=2),
                    {"x": coarse(*shape)})
        yield layer(MAX[dims], "unbatched", dict(kernel_size=2), {"x": coarse(*shape[1:])})
        padding = dict(kernel_size=3, stride=2, padding=1, count_include_pad=False)
        yield layer(AVERAGE[dims], "without_padding", padding, {"x": normal(*shape)})
        for size in (1, 3):
            yield layer(ADAPTIVE[dims], f"to_{size}", dict(output_size=size), {"x": normal(*shape)})
    for dims in (2, 3):
        arguments = dict(kernel_size=2, divisor_override=3)
        yield layer(AVERAGE[dims], "divisor", arguments, {"x": normal(*INPUTS[dims])})
    yield layer(nn.MaxPool2d, "unequal", dict(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0)),
                {"x": coarse(*INPUTS[2])})
    yield layer(nn.AdaptiveAvgPool2d, "unequal", dict(output_size=(5, None)),
                {"x": normal(*INPUTS[2])})
