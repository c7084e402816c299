"""Other numbers of places for the same image."""

from torch import nn

from support.draw import normal
from support.layer import layer

LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}
INPUTS = {1: (2, 3, 5), 2: (2, 3, 4, 5), 3: (2, 3, 3, 4, 2)}


def cases():
    for dims, shape in INPUTS.items():
        inputs = {"x": normal(*shape)}
        yield layer(nn.Upsample, f"nearest_{dims}d", dict(scale_factor=2.0, mode="nearest"), inputs)
        yield layer(nn.Upsample, f"nearest_{dims}d_fraction", dict(scale_factor=1.5), inputs)
        for aligned in (False, True):
            name = f"{LINEAR[dims]}{'_aligned' if aligned else ''}"
            more = dict(mode=LINEAR[dims], align_corners=aligned)
            yield layer(nn.Upsample, name, dict(scale_factor=2.0) | more, inputs)
            yield layer(nn.Upsample, name + "_to_7", dict(size=7) | more, inputs)
    more = dict(mode="bicubic", align_corners=False)
    yield layer(nn.Upsample, "bicubic", dict(scale_factor=2.0) | more, {"x": normal(*INPUTS[2])})
    yield layer(nn.PixelShuffle, "plain", dict(upscale_factor=2), {"x": normal(2, 8, 3, 2)})
    yield layer(nn.PixelUnshuffle, "plain", dict(downscale_factor=2), {"x": normal(2, 3, 4, 6)})
