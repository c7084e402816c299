import torch
import torch.nn.functional as F

from ops.case import case, values


def cross_entropy(logits, targets, ignore_index, label_smoothing, reduction):
    return F.cross_entropy(
        logits,
        targets,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction=reduction,
    )


def linear_cross_entropy(x, weight, targets, ignore_index, label_smoothing):
    return cross_entropy(F.linear(x, weight), targets, ignore_index, label_smoothing, "mean")


def cases():
    targets = torch.tensor([0, 10, 3, 7, 7, -100, 2, 5])
    logits = values(8, 11, scale=1.5)
    for reduction in ("mean", "sum", "none"):
        for smoothing in (0.0, 0.1):
            for ignored in (-100, 7):
                attrs = {
                    "ignore_index": ignored,
                    "label_smoothing": smoothing,
                    "reduction": reduction,
                }
                chosen = targets.where(targets >= 0, ignored)
                yield "cross_entropy", case(f"{reduction}_smoothing_{smoothing}_ignoring_{ignored}",
                                            cross_entropy, {"logits": logits, "targets": chosen},
                                            attrs)
    for smoothing in (0.0, 0.1):
        inputs = {"x": values(8, 6), "weight": values(11, 6, seed=1), "targets": targets}
        attrs = {"ignore_index": -100, "label_smoothing": smoothing}
        yield "linear_cross_entropy", case(f"smoothing_{smoothing}", linear_cross_entropy, inputs,
                                           attrs)
