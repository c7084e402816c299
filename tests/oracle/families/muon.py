"""Muon (Jordan, 2024, https://kellerjordan.github.io/posts/muon/) with its iteration in f64.
PyTorch, which makes updates orthogonal in bf16, is kept beside the reference."""

import math

import numpy
import torch

from support.optimizer import Optimizer

SHAPES = {"wide": (6, 10), "tall": (12, 5), "square": (7, 7)}
SETTINGS = {
    "default": {},
    "plain_momentum": dict(lr=0.02, momentum=0.9, nesterov=False, weight_decay=0.0),
    "matched": dict(lr=0.01, adjust_lr_fn="match_rms_adamw"),
    "few_steps": dict(lr=0.01, ns_steps=3, ns_coefficients=(3.0, -3.2, 1.2)),
    "spectral": dict(lr=0.02, adjust_lr_fn="spectral_unclamped", eps=1e-3,
                     ns_coefficients=(1.875, -1.25, 0.375)),
}


def orthogonal(update, coefficients, steps, eps):
    a, b, c = coefficients
    tall = update.shape[0] > update.shape[1]
    x = update.T if tall else update
    x = x / max(numpy.linalg.norm(x), eps)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if tall else x


def rate_factor(rule, rows, columns):
    if rule == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    least = 0 if rule == "spectral_unclamped" else 1
    return math.sqrt(max(least, rows / columns))


class Muon:
    def __init__(self, parameters, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.7750, 2.0315), eps=1e-7, ns_steps=5,
                 adjust_lr_fn="original"):
        self.parameters = parameters
        self.lr, self.weight_decay, self.rule = lr, weight_decay, adjust_lr_fn
        self.momentum, self.nesterov = momentum, nesterov
        self.iteration = (ns_coefficients, ns_steps, eps)
        self.momenta = [numpy.zeros_like(p.detach().numpy()) for p in parameters]

    def step(self):
        for parameter, m in zip(self.parameters, self.momenta):
            weight, gradient = parameter.detach().numpy(), parameter.grad.numpy()
            m += (1 - self.momentum) * (gradient - m)
            ahead = gradient + self.momentum * (m - gradient) if self.nesterov else m
            update = orthogonal(ahead, *self.iteration)
            weight *= 1 - self.lr * self.weight_decay
            weight -= self.lr * rate_factor(self.rule, *weight.shape) * update


def cases():
    for name, arguments in SETTINGS.items():
        make = lambda parameters, arguments=arguments: torch.optim.Muon(parameters, **arguments)
        formula = lambda parameters, arguments=arguments: Muon(parameters, **arguments)
        yield Optimizer("Muon", name, make, arguments, SHAPES, reference=formula)
