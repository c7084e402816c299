"""Cases of initialisation: how the values of a large tensor are spread.

Two samples of n numbers from one distribution, of standard deviation s and kurtosis k, have means
that differ by about s sqrt(2 / n), and variances that differ by about s^2 sqrt(2 (k - 1) / n).
Extremes are compared by rank: m or more numbers of one sample lie beyond all of the other with
probability 2^-m.
"""

import dataclasses
import typing

import torch

from support import record
from support.draw import generator
from support.record import Array, Group

EXTREMES = 30


def statistics(x):
    x = x.detach().double().reshape(-1)
    mean, deviation = x.mean().item(), x.std(correction=0).item()
    kurtosis = ((x - mean) ** 4).mean().item() / deviation**4 if deviation > 0 else 0.0
    count = min(EXTREMES, len(x))
    ordered = x.sort().values
    attributes = {"mean": mean, "deviation": deviation, "kurtosis": kurtosis}
    extremes = {"lowest": Array(ordered[:count]), "highest": Array(ordered.flip(0)[:count])}
    return Group(extremes, attributes)


@dataclasses.dataclass
class Begin:
    """The parameters and buffers of a new layer."""

    kind: str
    name: str
    build: typing.Callable
    arguments: dict
    section = "layers"

    def record(self, seed):
        torch.manual_seed(generator(seed, f"{self.kind}/{self.name}").initial_seed())
        module = self.build()
        begun = {name: statistics(x) for name, x in module.state_dict().items()}
        parts = {"arguments": record.arguments(self.arguments), "begun": Group(begun)}
        return Group(parts, {"repr": repr(module)})


def begin(kind, name, arguments):
    return Begin(kind.__name__, name, lambda: kind(**arguments), arguments)


@dataclasses.dataclass
class Initialiser:
    """A function of torch.nn.init on one tensor; all values where they follow from the shape."""

    kind: str
    name: str
    shape: tuple
    arguments: dict
    exact: bool = False
    section = "initialisers"

    def record(self, seed):
        random = generator(seed, f"{self.kind}/{self.name}")
        x = torch.empty(self.shape)
        more = {} if self.exact else {"generator": random}
        getattr(torch.nn.init, self.kind)(x, **self.arguments, **more)
        parts = {"arguments": record.arguments(self.arguments), "begun": statistics(x)}
        if self.exact:
            parts["values"] = Group({"all": Array(x.double())})
        return Group(parts, {"shape": list(self.shape)})
