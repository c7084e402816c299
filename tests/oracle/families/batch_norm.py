"""Norms by channel, over the batch, over one sample, and over groups of channels."""

from torch import nn

from support.begin import begin
from support.draw import normal
from support.layer import layer

BATCH = {nn.BatchNorm1d: [(12, 5), (4, 5, 6)], nn.BatchNorm2d: [(4, 5, 3, 4)],
         nn.BatchNorm3d: [(3, 5, 2, 3, 2)]}
INSTANCE = {nn.InstanceNorm1d: (4, 5, 6), nn.InstanceNorm2d: (3, 5, 3, 4),
            nn.InstanceNorm3d: (2, 5, 2, 3, 2)}
SETTINGS = {
    "plain": {},
    "without_affine": dict(affine=False),
    "momentum": dict(momentum=0.25, eps=0.5),
    "cumulative": dict(momentum=None),
    "untracked": dict(track_running_stats=False),
}


def both_modes(kind, name, arguments, inputs):
    yield layer(kind, name, arguments, inputs)
    yield layer(kind, name + "_eval", arguments, inputs, training=False)


def groups():
    for name, shape, count in (("plain", (3, 6, 4), 3), ("images", (2, 8, 3, 3), 2),
                               ("rows", (10, 6), 2), ("one_group", (3, 6, 5), 1)):
        arguments = dict(num_groups=count, num_channels=shape[1])
        yield layer(nn.GroupNorm, name, arguments, {"x": normal(*shape)})
    plain = dict(num_groups=3, num_channels=6)
    for name, more in (("without_affine", dict(affine=False)), ("large_eps", dict(eps=0.5))):
        yield layer(nn.GroupNorm, name, plain | more, {"x": normal(3, 6, 4)})
    yield begin(nn.GroupNorm, "fresh", plain)


def cases():
    for kind, shapes in BATCH.items():
        for shape in shapes:
            for name, more in SETTINGS.items():
                name = f"{name}_{len(shape)}_dims"
                arguments = dict(num_features=5) | more
                yield from both_modes(kind, name, arguments, {"x": normal(*shape)})
        yield begin(kind, "fresh", dict(num_features=5))
    for kind, shape in INSTANCE.items():
        for name, more in (("plain", {}), ("affine", dict(affine=True)),
                           ("tracked", dict(affine=True, track_running_stats=True))):
            arguments = dict(num_features=5) | more
            yield from both_modes(kind, name, arguments, {"x": normal(*shape)})
        yield layer(kind, "unbatched", dict(num_features=5), {"x": normal(*shape[1:])})
    yield from groups()
