"""Lion, by the formula of its paper: Chen et al., "Symbolic Discovery of Optimization Algorithms",
arXiv:2302.06675, Algorithm 2. PyTorch has none."""

import numpy

from support.optimizer import Optimizer

SETTINGS = {
    "default": {},
    "decay": dict(lr=1e-3, betas=(0.95, 0.98), weight_decay=0.1),
}


class Lion:
    def __init__(self, parameters, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        self.parameters = parameters
        self.lr, self.betas, self.weight_decay = lr, betas, weight_decay
        self.momenta = [numpy.zeros_like(p.detach().numpy()) for p in parameters]

    def step(self):
        first, second = self.betas
        for parameter, m in zip(self.parameters, self.momenta):
            weight, gradient = parameter.detach().numpy(), parameter.grad.numpy()
            update = numpy.sign(first * m + (1 - first) * gradient)
            weight -= self.lr * (update + self.weight_decay * weight)
            m[...] = second * m + (1 - second) * gradient


def cases():
    for name, arguments in SETTINGS.items():
        make = lambda parameters, arguments=arguments: Lion(parameters, **arguments)
        yield Optimizer("Lion", name, make, arguments)
