"""Ten steps of each optimizer on one tensor, in f64, with a gradient of its own every step."""

import torch

from ops.case import tensor, values

SETTINGS = [
    ("adamw", torch.optim.AdamW, dict(lr=1e-2, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)),
    ("adamw", torch.optim.AdamW, dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)),
    ("sgd", torch.optim.SGD, dict(lr=0.1)),
    ("sgd", torch.optim.SGD, dict(lr=0.1, weight_decay=0.01)),
    ("sgd", torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
    ("sgd", torch.optim.SGD, dict(lr=0.1, momentum=0.9, dampening=0.1)),
    ("sgd", torch.optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)),
]
STEPS = 10


def run(kind, settings):
    parameter = values(3, 4).requires_grad_()
    start = tensor(parameter)
    optimizer = kind([parameter], **settings)
    steps = []
    for step in range(STEPS):
        parameter.grad = values(3, 4, seed=step + 1, scale=0.1 * (step + 1))
        gradient = tensor(parameter.grad)
        optimizer.step()
        steps.append({"gradient": gradient, "parameter": tensor(parameter)})
    return {"settings": settings, "start": start, "steps": steps}


def runs():
    for name, kind, settings in SETTINGS:
        yield name, run(kind, settings)
