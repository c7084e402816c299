"""Losses that compare distances."""

from torch import nn

from support.draw import integers, normal, signs
from support.layer import layer

REDUCTIONS = ("mean", "sum", "none")


def cases():
    for reduction in REDUCTIONS:
        arguments = dict(reduction=reduction)
        pair = {"input1": normal(8, 6), "input2": normal(8, 6), "target": signs(8)}
        for margin in (0.0, 0.25):
            yield layer(nn.CosineEmbeddingLoss, f"{reduction}_{margin}",
                        arguments | dict(margin=margin), pair, constant=("target",))
        scores = {"input1": normal(20), "input2": normal(20), "target": signs(20)}
        for margin in (0.0, 0.5):
            yield layer(nn.MarginRankingLoss, f"{reduction}_{margin}",
                        arguments | dict(margin=margin), scores, constant=("target",))
        yield layer(nn.HingeEmbeddingLoss, reduction, arguments | dict(margin=1.5),
                    {"input": normal(20), "target": signs(20)}, constant=("target",))
        yield layer(nn.MultiMarginLoss, reduction, arguments,
                    {"input": normal(8, 5), "target": integers(5, 8)})
        triple = {name: normal(8, 6) for name in ("anchor", "positive", "negative")}
        for name, more in (("plain", {}), ("margin", dict(margin=0.25)), ("p_1", dict(p=1.0)),
                           ("p_3", dict(p=3.0)), ("swap", dict(swap=True))):
            yield layer(nn.TripletMarginLoss, f"{reduction}_{name}", arguments | more, triple)
