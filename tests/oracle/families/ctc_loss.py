"""Connectionist temporal classification."""

import torch
from torch import nn

from support.draw import given, integers, normal
from support.layer import layer


def lengths(*numbers):
    return given(*numbers, dtype=torch.int64)


def loss(module, inputs):
    """Of logits, so that the gradient is that of what is trained."""
    logits, *rest = inputs.values()
    return module(logits.log_softmax(-1), *rest)


def cases():
    for reduction in ("mean", "sum", "none"):
        inputs = {"logits": normal(12, 3, 6), "targets": integers(6, 3, 4, low=1),
                  "input_lengths": lengths(12, 9, 10), "target_lengths": lengths(4, 2, 3)}
        yield layer(nn.CTCLoss, reduction, dict(reduction=reduction), inputs, call=loss)
        too_long = inputs | {"input_lengths": lengths(12, 1, 10)}
        arguments = dict(reduction=reduction, zero_infinity=True)
        yield layer(nn.CTCLoss, reduction + "_impossible", arguments, too_long, call=loss)
    inputs = inputs | {"targets": integers(5, 3, 4)}
    yield layer(nn.CTCLoss, "last_is_blank", dict(blank=5), inputs, call=loss)
    inputs = inputs | {"targets": integers(6, 9, low=1)}
    yield layer(nn.CTCLoss, "one_behind_the_other", {}, inputs, call=loss)
    inputs = inputs | {"targets": given(1, 1, 2, 2, 2, 3, 3, 4, 4, dtype=torch.int64)}
    yield layer(nn.CTCLoss, "repeated", {}, inputs, call=loss)
