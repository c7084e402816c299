"""Ten steps of each optimizer on one tensor, with a gradient of its own every step: in f64 by
PyTorch, or in numpy where PyTorch lacks the optimizer (Lion) or computes in bf16 (Muon). Beside
them how far f32 takes PyTorch, or numpy, from there, as a part of the move from the start."""

import math

import numpy
import torch

from ops.case import tensor, values

STEPS = 10


class Lion:
    """Chen et al., arXiv:2302.06675, Algorithm 2."""

    def __init__(self, parameters, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        self.parameter = parameters[0]
        self.lr, self.betas, self.weight_decay = lr, betas, weight_decay
        self.mean = numpy.zeros_like(self.parameter.detach().numpy())

    def step(self):
        x, g = self.parameter.detach().numpy(), self.parameter.grad.numpy()
        direction = numpy.sign(self.betas[0] * self.mean + (1 - self.betas[0]) * g)
        x -= self.lr * (direction + self.weight_decay * x)
        self.mean = self.betas[1] * self.mean + (1 - self.betas[1]) * g


class Muon:
    """Jordan et al., 2024, with the options of torch.optim.Muon, in the parameter's dtype."""

    def __init__(self, parameters, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5,
                 adjust_lr_fn="original"):
        self.parameter = parameters[0]
        self.lr, self.weight_decay, self.momentum = lr, weight_decay, momentum
        self.nesterov, self.coefficients, self.eps = nesterov, ns_coefficients, eps
        self.ns_steps, self.adjust = ns_steps, adjust_lr_fn
        self.mean = numpy.zeros_like(self.parameter.detach().numpy())

    def orthogonalized(self, x):
        a, b, c = self.coefficients
        y = (x.T if x.shape[0] > x.shape[1] else x) / max(numpy.linalg.norm(x), self.eps)
        for _ in range(self.ns_steps):
            gram = y @ y.T
            y = a * y + (b * gram + c * gram @ gram) @ y
        return y.T if x.shape[0] > x.shape[1] else y

    def ratio(self, rows, columns):
        return {"original": math.sqrt(max(1, rows / columns)),
                "match_rms_adamw": 0.2 * math.sqrt(max(rows, columns)),
                "spectral_unclamped": math.sqrt(rows / columns)}[self.adjust]

    def step(self):
        x, g = self.parameter.detach().numpy(), self.parameter.grad.numpy()
        self.mean = self.momentum * self.mean + (1 - self.momentum) * g
        ahead = (1 - self.momentum) * g + self.momentum * self.mean if self.nesterov else self.mean
        x *= 1 - self.lr * self.weight_decay
        x -= self.lr * self.ratio(*x.shape) * self.orthogonalized(ahead)


SHAPES = {"adafactor": [(6, 4), (5,), (2, 3, 4)], "muon": [(12, 8), (8, 12)]}
# Decay that is added to a gradient is a power of two: where 0.1 times a weight and a gradient cancel
# but for rounding, what is left would be divided by its own size.
SETTINGS = [
    ("adamw", torch.optim.AdamW, dict(lr=1e-2, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)),
    ("adamw", torch.optim.AdamW, dict()),
    ("adamw", torch.optim.AdamW, dict(lr=1e-2, amsgrad=True, maximize=True)),
    ("adam", torch.optim.Adam, dict()),
    ("adam", torch.optim.Adam, dict(lr=1e-2, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.125)),
    ("adam", torch.optim.Adam, dict(lr=1e-2, betas=(0.5, 0.5), amsgrad=True)),
    ("adam", torch.optim.Adam, dict(lr=1e-2, weight_decay=0.125, maximize=True)),
    ("sgd", torch.optim.SGD, dict()),
    ("sgd", torch.optim.SGD, dict(lr=0.1, weight_decay=0.01)),
    ("sgd", torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
    ("sgd", torch.optim.SGD, dict(lr=0.1, momentum=0.9, dampening=0.1, maximize=True)),
    ("sgd", torch.optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)),
    ("adagrad", torch.optim.Adagrad, dict()),
    ("adagrad", torch.optim.Adagrad, dict(lr=0.1, lr_decay=0.1, weight_decay=0.125)),
    ("adagrad", torch.optim.Adagrad,
     dict(lr=0.1, initial_accumulator_value=0.5, eps=1e-3, maximize=True)),
    ("rmsprop", torch.optim.RMSprop, dict()),
    ("rmsprop", torch.optim.RMSprop, dict(lr=1e-2, alpha=0.9, eps=1e-4, weight_decay=0.125)),
    ("rmsprop", torch.optim.RMSprop, dict(lr=1e-2, momentum=0.9, maximize=True)),
    ("rmsprop", torch.optim.RMSprop, dict(lr=1e-2, alpha=0.9, centered=True)),
    ("rmsprop", torch.optim.RMSprop, dict(lr=1e-2, alpha=0.9, centered=True, momentum=0.5)),
    ("lion", Lion, dict()),
    ("lion", Lion, dict(lr=1e-2, betas=(0.95, 0.98), weight_decay=0.1)),
    ("adafactor", torch.optim.Adafactor, dict()),
    ("adafactor", torch.optim.Adafactor, dict(lr=0.5, beta2_decay=-0.5, weight_decay=0.1)),
    ("adafactor", torch.optim.Adafactor, dict(lr=0.5, eps=(1e-4, 1e-2), d=2.0, maximize=True)),
    ("muon", Muon, dict()),
    ("muon", Muon, dict(lr=0.02, weight_decay=0.0, momentum=0.9, nesterov=False)),
    ("muon", Muon, dict(lr=0.02, adjust_lr_fn="match_rms_adamw", ns_steps=6)),
    ("muon", Muon, dict(lr=0.02, adjust_lr_fn="spectral_unclamped", eps=1e-3,
                        ns_coefficients=(1.875, -1.25, 0.375))),
]


def parameters(kind, settings, shape, dtype):
    """The parameter before the first step and after each."""
    parameter = values(*shape).to(dtype).requires_grad_()
    found = [parameter.detach().clone()]
    optimizer = kind([parameter], **settings)
    for step in range(STEPS):
        parameter.grad = gradient(shape, step).to(dtype)
        optimizer.step()
        found.append(parameter.detach().clone())
    return found


def gradient(shape, step):
    return values(*shape, seed=step + 1, scale=0.1 * (step + 1))


def part_of_move(got, expected):
    """The largest error as a part of the largest move."""
    move = (expected[-1] - expected[0]).abs().max()
    return ((got[-1].double() - expected[-1]).abs().max() / move).item()


def run(name, kind, settings, shape):
    exact = parameters(kind, settings, shape, torch.float64)
    steps = [{"gradient": tensor(gradient(shape, i)), "parameter": tensor(exact[i + 1])}
             for i in range(STEPS)]
    record = {"settings": settings, "start": tensor(exact[0]), "steps": steps}
    if name == "muon":
        record["pytorch"] = tensor(parameters(torch.optim.Muon, settings, shape, torch.float64)[-1])
    record["f32_error"] = part_of_move(parameters(kind, settings, shape, torch.float32), exact)
    return record


def runs():
    for name, kind, settings in SETTINGS:
        for shape in SHAPES.get(name, [(6, 4)]):
            yield name, run(name, kind, settings, shape)
