"""Cases of optimizers: ten steps from the same weights with gradients of their own."""

import dataclasses
import typing

import torch

from support import record
from support.draw import generator, normal
from support.record import Array, Group

STEPS = 10
DRAWS = 8  # of a case; one is kept, and the others tell how large PyTorch's errors are
SHAPES = {"matrix": (8, 6), "vector": (40,)}


@dataclasses.dataclass
class Optimizer:
    """`make(parameters)` is PyTorch's or behaves as it does: it has `step()`, and reads `grad`.
    With a `reference`, made in its place for the steps in f64, PyTorch's own are kept as well."""

    kind: str
    name: str
    make: typing.Callable
    arguments: dict
    shapes: dict = dataclasses.field(default_factory=lambda: SHAPES)
    reference: typing.Callable = None
    section = "optimizers"

    def record(self, seed):
        draws = [Draw(self, seed, number) for number in range(DRAWS)]
        first = self.kept(draws)
        moved = {}
        for name, values in first.reference.items():
            largest = torch.tensor([draw.errors(name) for draw in draws]).amax(0)
            moved[name] = Array(values, {"f32": largest.tolist()})
        parts = {
            "arguments": record.arguments(self.arguments),
            "start": record.arrays(first.start),
            "gradients": record.arrays(first.gradients),
            "steps": Group(moved),
        }
        return Group(parts | ({"pytorch": record.arrays(first.single)} if self.reference else {}))

    def kept(self, draws):
        """The first; beside a reference, that which PyTorch's own rounding disturbs least."""
        disturbed = lambda draw: max(draw.errors(name)[-1] for name in self.shapes)
        return min(draws, key=disturbed) if self.reference else draws[0]

    def run(self, make, start, gradients, dtype):
        """Name -> the parameter after each step."""
        parameters = {n: x.to(dtype, copy=True).requires_grad_() for n, x in start.items()}
        optimizer = make(list(parameters.values()))
        steps = []
        for step in range(STEPS):
            for name, parameter in parameters.items():
                parameter.grad = gradients[name][step].to(dtype)
            optimizer.step()
            steps.append({name: x.detach().clone() for name, x in parameters.items()})
        return {name: torch.stack([step[name] for step in steps]) for name in parameters}


class Draw:
    """A case with numbers: its reference in f64, and what PyTorch gives in f32."""

    def __init__(self, case, seed, number):
        random = generator(seed, f"{case.kind}/{case.name}/{number}")
        shapes = case.shapes.items()
        self.start = {name: normal(*shape)(random) for name, shape in shapes}
        self.gradients = {name: draw_gradients(shape, random) for name, shape in shapes}
        make = case.reference or case.make
        self.reference = case.run(make, self.start, self.gradients, torch.float64)
        self.single = case.run(case.make, self.start, self.gradients, torch.float32)

    def errors(self, name):
        """After each step, of the move from the start."""
        start = self.start[name]
        pairs = zip(self.single[name], self.reference[name])
        return [record.error(got.double() - start, reference - start) for got, reference in pairs]


def optimizer(kind, name, arguments, **more):
    """A case of `kind`, a class of torch.optim."""
    return Optimizer(kind.__name__, name, lambda parameters: kind(parameters, **arguments),
                     arguments, **more)


def draw_gradients(shape, random):
    """They grow, so that a step that forgets what came before is noticed."""
    scales = [0.25 * (step + 1) for step in range(STEPS)]
    return torch.stack([normal(*shape, scale=scale)(random) for scale in scales])
