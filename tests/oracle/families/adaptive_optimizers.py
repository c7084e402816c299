"""Optimizers that scale every number by the size of its gradients."""

from torch import optim

from support.optimizer import optimizer

SETTINGS = {
    optim.Adam: {
        "default": {},
        "decay": dict(lr=1e-2, betas=(0.9, 0.95), eps=1e-6, weight_decay=0.1),
        "amsgrad": dict(lr=1e-2, amsgrad=True),
    },
    optim.AdamW: {"amsgrad": dict(lr=1e-2, weight_decay=0.1, amsgrad=True)},
    optim.Adagrad: {
        "default": {},
        "decays": dict(lr=0.1, lr_decay=0.1, weight_decay=0.01),
        "accumulated": dict(lr=0.1, initial_accumulator_value=0.5, eps=1e-6),
    },
    optim.RMSprop: {
        "default": {},
        "decay": dict(alpha=0.9, weight_decay=0.01),
        "momentum": dict(momentum=0.9, alpha=0.9),
        "centered": dict(centered=True, eps=1e-4),
        "centered_momentum": dict(centered=True, momentum=0.5, eps=1e-4),
    },
    optim.Adafactor: {
        "default": {},
        "decay": dict(lr=0.05, weight_decay=0.1, beta2_decay=-0.5),
        "clipped": dict(d=1.5, eps=(1e-6, 0.1)),
    },
}


def cases():
    for kind, settings in SETTINGS.items():
        for name, arguments in settings.items():
            yield optimizer(kind, name, arguments)
