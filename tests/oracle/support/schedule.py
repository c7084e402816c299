"""Cases of schedules: the learning rate of each group of parameters in each step."""

import dataclasses
import typing

import torch
from torch.optim import lr_scheduler

from support import record
from support.record import Array, Group

RATES = (0.1, 0.004)  # the highest, of two groups


@dataclasses.dataclass
class Schedule:
    """`make(optimizer)` is one of torch.optim.lr_scheduler. `metrics`: what it is told after each
    step, if anything. `cycled`: what else of the first group it changes."""

    kind: str
    name: str
    make: typing.Callable
    arguments: dict
    steps: int = 40
    metrics: list = None
    cycled: str = None
    lr: tuple = RATES
    section = "schedules"

    def record(self, seed):
        groups = [{"params": [torch.zeros(1)], "lr": lr} for lr in self.lr]
        optimizer = torch.optim.SGD(groups, momentum=0.9)
        schedule = self.make(optimizer)
        parts = {"rates": []} | ({self.cycled: []} if self.cycled else {})
        for step in range(self.steps):
            parts["rates"].append([group["lr"] for group in optimizer.param_groups])
            if self.cycled:
                parts[self.cycled].append(optimizer.param_groups[0][self.cycled])
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


def warmed(after, name, arguments, warmup=5, **more):
    """`after` behind a linear warm-up of `warmup` steps from 1 / (warmup + 1) of the rate."""
    def make(optimizer):
        rise = lr_scheduler.LinearLR(optimizer, 1 / (warmup + 1), 1.0, warmup)
        parts = [rise, after(optimizer, **arguments)]
        return lr_scheduler.SequentialLR(optimizer, parts, milestones=[warmup])
    described = {"after": after.__name__, "warmup": warmup}
    return Schedule("SequentialLR", name, make, arguments | described, **more)
