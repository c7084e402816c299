"""Cases of schedules: the learning rate of each step."""

import dataclasses
import typing

import torch

from support import record
from support.record import Array, Group


@dataclasses.dataclass
class Schedule:
    """`make(optimizer)` is one of torch.optim.lr_scheduler. `metrics`: what it is told after each
    step, if anything. `cycled`: what else of the group it changes."""

    kind: str
    name: str
    make: typing.Callable
    arguments: dict
    steps: int = 40
    metrics: list = None
    cycled: str = None
    lr: float = 0.1
    section = "schedules"

    def record(self, seed):
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=self.lr, momentum=0.9)
        schedule = self.make(optimizer)
        parts = {"rates": []} | ({self.cycled: []} if self.cycled else {})
        for step in range(self.steps):
            group = optimizer.param_groups[0]
            parts["rates"].append(group["lr"])
            if self.cycled:
                parts[self.cycled].append(group[self.cycled])
            optimizer.step()
            schedule.step(*([self.metrics[step]] if self.metrics else []))
        if self.metrics:
            parts["metrics"] = self.metrics
        values = {name: Array(torch.tensor(numbers, dtype=torch.float64))
                  for name, numbers in parts.items()}
        start = {} if "max_lr" in self.arguments else {"lr": self.lr}
        arguments = record.arguments(start | self.arguments)
        return Group({"arguments": arguments, "values": Group(values)})


def schedule(kind, name, arguments, **more):
    """A case of `kind`, a class of torch.optim.lr_scheduler."""
    make = lambda optimizer: kind(optimizer, **arguments)
    return Schedule(kind.__name__, name, make, arguments, **more)
