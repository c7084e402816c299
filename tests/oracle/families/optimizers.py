"""Optimizers that act on each number by itself with the momentum of its gradients."""

from torch import optim

from support.optimizer import optimizer

ADAMW = {
    "default": {},
    "large_steps": dict(lr=1e-2, betas=(0.9, 0.95), eps=1e-6, weight_decay=0.1),
    "no_decay": dict(lr=1e-3, weight_decay=0.0),
    "maximize": dict(lr=1e-2, amsgrad=True, maximize=True),
}
SGD = {
    "default": {},
    "plain": dict(lr=0.1),
    "decay": dict(lr=0.1, weight_decay=0.01),
    "momentum": dict(lr=0.1, momentum=0.9),
    "dampening": dict(lr=0.1, momentum=0.9, dampening=0.1),
    "nesterov": dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "maximize": dict(lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01, maximize=True),
}


def cases():
    for kind, settings in ((optim.AdamW, ADAMW), (optim.SGD, SGD)):
        for name, arguments in settings.items():
            yield optimizer(kind, name, arguments)
