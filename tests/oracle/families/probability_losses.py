"""Losses between distributions."""

import torch
from torch import nn

from support.draw import between, integers, normal
from support.layer import Layer, layer

REDUCTIONS = ("mean", "sum", "none")


def weighted(kind, name, names, size, arguments, inputs, **more):
    """`names`: the arguments that are tensors of that size, which the case draws as state."""
    weights = {weight: torch.ones(size) for weight in names}
    build = lambda: kind(**weights, **arguments)
    recorded = arguments | {weight: size for weight in names}
    return Layer(kind.__name__, name, build, recorded, inputs, positive=tuple(names), **more)


def log_probabilities(*shape):
    """Rounded, so that rows do not quite add up to 1."""
    return lambda random: -(normal(*shape)(random).abs() + 0.25).clamp(max=3.5)


def binary():
    inputs = {"input": between(6, 5), "target": between(6, 5, low=0.0, high=1.0)}
    logits = inputs | {"input": normal(6, 5, scale=2.0)}
    more = dict(constant=("target",))
    for reduction in REDUCTIONS:
        arguments = dict(reduction=reduction)
        yield layer(nn.BCELoss, reduction, arguments, inputs, **more)
        yield layer(nn.BCEWithLogitsLoss, reduction, arguments, logits, **more)
        name = reduction + "_weighted"
        yield weighted(nn.BCELoss, name, ["weight"], 5, arguments, inputs, **more)
        for names in (["weight"], ["pos_weight"], ["weight", "pos_weight"]):
            name = "_".join([reduction] + names)
            yield weighted(nn.BCEWithLogitsLoss, name, names, 5, arguments, logits, **more)


def classes():
    dense = {"input": normal(4, 5, 3), "target": integers(5, 4, 3)}
    for reduction in REDUCTIONS:
        arguments = dict(reduction=reduction)
        rows = {"input": log_probabilities(12, 7), "target": integers(7, 12)}
        yield layer(nn.NLLLoss, reduction, arguments, rows)
        yield layer(nn.NLLLoss, reduction + "_ignoring", arguments | dict(ignore_index=2), rows)
        yield weighted(nn.NLLLoss, reduction + "_weighted", ["weight"], 7, arguments, rows)
        yield layer(nn.NLLLoss, reduction + "_dense", arguments, dense)
        rows = {"input": normal(12, 7), "target": integers(7, 12)}
        smoothed = arguments | dict(label_smoothing=0.1)
        yield weighted(nn.CrossEntropyLoss, reduction + "_weighted", ["weight"], 7, arguments, rows)
        yield weighted(nn.CrossEntropyLoss, reduction + "_weighted_smoothed", ["weight"], 7,
                       smoothed, rows)
        yield layer(nn.CrossEntropyLoss, reduction + "_dense", arguments, dense)
        probabilities = {"input": normal(12, 7), "target": between(12, 7)}
        yield layer(nn.CrossEntropyLoss, reduction + "_probabilities", smoothed, probabilities)


def divergences():
    for reduction in REDUCTIONS + ("batchmean",):
        for log_target in (False, True):
            target = log_probabilities(6, 5) if log_target else between(6, 5)
            inputs = {"input": log_probabilities(6, 5), "target": target}
            arguments = dict(reduction=reduction, log_target=log_target)
            name = reduction + ("_log_target" if log_target else "")
            yield layer(nn.KLDivLoss, name, arguments, inputs)


def cases():
    yield from binary()
    yield from classes()
    yield from divergences()
