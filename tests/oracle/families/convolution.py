"""Convolutions and their transposes."""

from torch import nn

from support.begin import begin
from support.draw import normal
from support.layer import layer

INPUTS = {1: (2, 4, 11), 2: (2, 4, 7, 6), 3: (2, 4, 5, 4, 6)}
SMALLER = {1: (2, 4, 6), 2: (2, 4, 4, 5), 3: (2, 4, 3, 2, 3)}  # transposes make them larger
PLAIN = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
TRANSPOSED = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
CHANNELS = dict(in_channels=4, out_channels=6, kernel_size=3)

SHARED = {
    "plain": {},
    "without_bias": dict(bias=False),
    "strided": dict(stride=2, padding=1),
    "dilated": dict(dilation=2, padding=2),
    "grouped": dict(groups=2, padding=1),
    "one": dict(kernel_size=1),
}
PADDED = {
    "same": dict(padding="same", dilation=2),
    "valid": dict(padding="valid"),
    "depthwise": dict(groups=4, out_channels=8, padding=1),
    "reflect": dict(padding=2, padding_mode="reflect"),
    "replicate": dict(padding=2, padding_mode="replicate"),
    "circular": dict(padding=2, padding_mode="circular"),
    "same_even_kernel": dict(kernel_size=2, padding="same"),
}
OUTPUT_PADDED = {
    "output_padding": dict(stride=2, padding=1, output_padding=1),
    "output_padding_dilated": dict(stride=3, dilation=2, output_padding=1),
}
UNEQUAL = {
    1: {},
    2: dict(kernel_size=(3, 2), stride=(1, 2), padding=(0, 1), dilation=(2, 1)),
    3: dict(kernel_size=(3, 1, 2), stride=(1, 2, 1), padding=(1, 0, 1), dilation=(1, 1, 2)),
}


def cases():
    forms = [(PLAIN, INPUTS, SHARED | PADDED), (TRANSPOSED, SMALLER, SHARED | OUTPUT_PADDED)]
    for dims in INPUTS:
        for kinds, shapes, named in forms:
            kind, shape = kinds[dims], shapes[dims]
            for name, more in named.items():
                yield layer(kind, name, CHANNELS | more, {"x": normal(*shape)})
            yield layer(kind, "unbatched", CHANNELS, {"x": normal(*shape[1:])})
            if UNEQUAL[dims]:
                yield layer(kind, "unequal", CHANNELS | UNEQUAL[dims], {"x": normal(*shape)})
            large = dict(in_channels=16, out_channels=32, kernel_size=3, groups=2)
            yield begin(kind, "fresh", large)
