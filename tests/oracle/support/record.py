"""What a fixture is made of: groups with attributes, and arrays with PyTorch's own errors."""

import dataclasses

import torch


@dataclasses.dataclass
class Array:
    values: torch.Tensor
    attributes: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Group:
    members: dict = dataclasses.field(default_factory=dict)
    attributes: dict = dataclasses.field(default_factory=dict)


def arrays(named):
    return Group({name: Array(x) for name, x in named.items()})


def arguments(given):
    """What PyTorch's constructor was given; nothing is the text "None"."""
    return Group(attributes={name: "None" if x is None else x for name, x in given.items()})


def error(got, reference):
    """The largest difference by the largest finite reference; NaN and infinity must agree."""
    got, reference = got.detach().double(), reference.detach().double()
    finite = reference.isfinite()
    torch.testing.assert_close(got[~finite], reference[~finite], equal_nan=True)
    if not finite.any():
        return 0.0
    largest = reference[finite].abs().max().item()
    return (got - reference)[finite].abs().max().item() / (largest or 1.0)
