"""Cases of layers and losses: PyTorch's values and gradients in f64, and its own errors below."""

import contextlib
import dataclasses
import typing

import torch

from support import record
from support.draw import exact, generator, integers, normal, positive
from support.record import Array, Group


DRAWS = 8  # of a case; the first is kept, and the others tell how large PyTorch's errors are
# Layers that compute one thing from the other many times over err in some draws several times as
# much as in others: there draws near the first, as badly conditioned as it is, tell too.
NEIGHBOURS = 24


@dataclasses.dataclass
class Layer:
    """One layer, constructed, called and differentiated. `reference` makes what is used for it in
    f64, where PyTorch computes with constants of f32."""

    kind: str
    name: str
    build: typing.Callable
    arguments: dict
    inputs: dict
    constant: tuple = ()  # floating inputs without a gradient
    call: typing.Callable = lambda module, inputs: module(*inputs.values())
    training: bool = True
    scale: float = 0.5  # of weights
    positive: tuple = ("running_var",)  # ends of names of state that must be
    reference: typing.Callable = None
    smooth: bool = True  # without: a kink behind a product, where bf16 may fall on the other side
    neighbours: int = 0  # draws near the first
    section = "layers"

    def record(self, seed):
        draws = [Draw(self, seed, number) for number in range(DRAWS)]
        first = draws[0]
        draws += [Draw(self, seed, DRAWS + n, near=first) for n in range(self.neighbours)]
        parts = {
            "arguments": record.arguments(self.arguments),
            "inputs": record.arrays(first.inputs),
            "state": record.arrays(first.state),
            "upstream": record.arrays({str(i): u for i, u in enumerate(first.upstream.drawn)}),
        }
        attributes = {"repr": repr(self.build()), "training": self.training, "smooth": self.smooth}
        return Group(parts | with_errors(draws), attributes)

    def draw_state(self, random):
        """Every parameter and buffer anew, exact in bf16; counters as they are."""
        state = {}
        for name, value in self.build().state_dict().items():
            if not value.is_floating_point():
                state[name] = value
            elif name.endswith(self.positive):
                state[name] = positive(*value.shape)(random)
            else:
                state[name] = normal(*value.shape, scale=self.scale)(random)
        return state


def layer(kind, name, arguments, inputs, **more):
    """A case of `kind`, a class of torch.nn."""
    build = lambda: kind(**arguments)
    return Layer(kind.__name__, name, build, arguments, inputs, **more)


class Draw:
    """A case with numbers: its reference in f64, and what PyTorch gives in f32 and bf16."""

    def __init__(self, case, seed, number, near=None):
        random = generator(seed, f"{case.kind}/{case.name}/{number}")
        if near is None:
            self.state = case.draw_state(random)
            self.inputs = {name: draw(random) for name, draw in case.inputs.items()}
            self.upstream = Upstream(random)
        else:
            self.state, self.inputs = moved(near.state, random), moved(near.inputs, random)
            self.upstream = near.upstream
        self.reference = self.run(case, torch.float64)
        self.others = {"f32": self.run(case, torch.float32), "bf16": self.run(case, torch.bfloat16)}

    def run(self, case, dtype):
        return Run(case, self.state, self.inputs, self.upstream, dtype).results()

    def errors(self, part, name):
        reference = self.reference[part][name]
        return {dtype: record.error(run[part][name], reference)
                for dtype, run in self.others.items()}


def moved(named, random):
    """All numbers by 1/64 up, down or not at all."""
    step = lambda x: integers(3, *x.shape, low=-1)(random) / 64
    return {name: exact(x + step(x)) if x.is_floating_point() else x for name, x in named.items()}


class Upstream:
    """The gradients of outputs, drawn when the shapes are known."""

    def __init__(self, random):
        self.random = random
        self.drawn = []

    def of(self, outputs):
        for y in outputs[len(self.drawn):]:
            self.drawn.append(normal(*y.shape)(self.random))
        return [u.to(y.dtype) for u, y in zip(self.drawn, outputs)]


def flat(result):
    """The tensors of a result, in order."""
    if result is None:
        return []
    if isinstance(result, torch.Tensor):
        return [result]
    return [y for part in result for y in flat(part)]


@dataclasses.dataclass
class Run:
    """One pass in one precision. bf16 means inputs of bf16, parameters of f32, and autocast."""

    case: Layer
    state: dict
    inputs: dict
    upstream: Upstream
    dtype: torch.dtype

    def results(self):
        half = self.dtype == torch.bfloat16
        exact = self.dtype == torch.float64 and self.case.reference
        module = (exact or self.case.build)().to(torch.float32 if half else self.dtype)
        module.load_state_dict(self.state)
        module.train(self.case.training)
        leaves = {name: self.leaf(name, x) for name, x in self.inputs.items()}
        precision = torch.autocast("cpu", self.dtype) if half else contextlib.nullcontext()
        with precision:
            outputs = flat(self.case.call(module, leaves))
        differentiable = [y for y in outputs if y.requires_grad]
        if differentiable:
            torch.autograd.backward(differentiable, self.upstream.of(differentiable))
        return {
            "outputs": {str(i): y.detach() for i, y in enumerate(outputs)},
            "input_gradients": gradients(leaves.items()),
            "gradients": gradients(module.named_parameters()),
            "buffers": dict(module.named_buffers()),
        }

    def leaf(self, name, x):
        if not x.is_floating_point():
            return x
        return x.to(self.dtype, copy=True).requires_grad_(name not in self.case.constant)


def gradients(named):
    return {name: x.grad for name, x in named if x.grad is not None}


def with_errors(draws):
    """The first draw's references, each with PyTorch's largest errors over all draws."""
    parts = {}
    for part, named in draws[0].reference.items():
        parts[part] = Group()
        for name, x in named.items():
            errors = [draw.errors(part, name) for draw in draws]
            largest = {dtype: max(each[dtype] for each in errors) for dtype in ("f32", "bf16")}
            parts[part].members[name] = Array(x, largest)
    return {part: group for part, group in parts.items() if group.members}
