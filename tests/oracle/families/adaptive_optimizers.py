"""Optimizers that scale every number by the size of its gradients."""

from torch import optim

from support.optimizer import SHAPES, optimizer

# Adafactor factors the last two dims of what has more than one.
FACTORED = SHAPES | {"cube": (2, 3, 4)}

# Where decay is added to a maximized gradient the two cancel, and Adam and its kin divide what
# rounding leaves by its own size; with a power of two as decay it leaves nothing.

SETTINGS = {
    optim.Adam: {
        "default": {},
        "decay": dict(lr=1e-2, betas=(0.9, 0.95), eps=1e-6, weight_decay=0.1),
        "amsgrad": dict(lr=1e-2, amsgrad=True),
        "forgetful_amsgrad": dict(lr=1e-2, betas=(0.5, 0.5), amsgrad=True),
        "maximize": dict(lr=1e-2, weight_decay=0.125, maximize=True),
    },
    optim.AdamW: {"amsgrad": dict(lr=1e-2, weight_decay=0.1, amsgrad=True)},
    optim.Adagrad: {
        "default": {},
        "decays": dict(lr=0.1, lr_decay=0.1, weight_decay=0.01),
        "accumulated": dict(lr=0.1, initial_accumulator_value=0.5, eps=1e-6),
        "maximize": dict(lr=0.1, initial_accumulator_value=0.5, eps=1e-3, maximize=True),
    },
    optim.RMSprop: {
        "default": {},
        "decay": dict(alpha=0.9, weight_decay=0.01),
        "momentum": dict(momentum=0.9, alpha=0.9),
        "centered": dict(centered=True, eps=1e-4),
        "centered_momentum": dict(centered=True, momentum=0.5, eps=1e-4),
        "maximize": dict(alpha=0.9, momentum=0.9, eps=1e-4, weight_decay=0.125, maximize=True),
    },
    optim.Adafactor: {
        "default": {},
        "decay": dict(lr=0.05, weight_decay=0.1, beta2_decay=-0.5),
        "clipped": dict(d=1.5, eps=(1e-6, 0.1)),
        "maximize": dict(lr=0.5, eps=(1e-4, 1e-2), d=2.0, maximize=True),
    },
}


def cases():
    for kind, settings in SETTINGS.items():
        for name, arguments in settings.items():
            shapes = FACTORED if kind is optim.Adafactor else SHAPES
            yield optimizer(kind, name, arguments, shapes=shapes)
