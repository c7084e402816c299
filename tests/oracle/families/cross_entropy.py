"""Cross entropy from logits and the numbers of classes."""

from torch import nn

from support.draw import integers, normal
from support.layer import layer


def with_ignored(*shape, ignored):
    """Some of the targets do not count."""
    def draw(random):
        targets = integers(11, *shape)(random)
        return targets.where(integers(4, *shape)(random) > 0, ignored)
    return draw


def cases():
    for reduction in ("mean", "sum", "none"):
        for smoothing in (0.0, 0.1):
            arguments = dict(reduction=reduction, label_smoothing=smoothing)
            inputs = {"logits": normal(16, 11), "targets": integers(11, 16)}
            name = reduction + ("_smoothed" if smoothing else "")
            yield layer(nn.CrossEntropyLoss, name, arguments, inputs)
    for reduction in ("mean", "none"):
        arguments = dict(ignore_index=7, reduction=reduction, label_smoothing=0.2)
        inputs = {"logits": normal(16, 11), "targets": with_ignored(16, ignored=7)}
        yield layer(nn.CrossEntropyLoss, reduction + "_ignoring", arguments, inputs)
    inputs = {"logits": normal(16, 11), "targets": with_ignored(16, ignored=-100)}
    yield layer(nn.CrossEntropyLoss, "ignoring_by_default", {}, inputs)
