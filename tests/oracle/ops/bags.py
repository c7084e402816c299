import torch
import torch.nn.functional as F

from ops.case import case, values


def bag(weight, ids, offsets=None, per_sample_weights=None, mode="mean", padding_idx=None):
    return F.embedding_bag(ids, weight, offsets, mode=mode, padding_idx=padding_idx,
                           per_sample_weights=per_sample_weights)


def cases():
    weight = values(5, 3)
    rows = torch.tensor([[0, 4, 4], [2, 2, 1], [3, 0, 3], [1, 1, 1]])
    line = {"weight": weight, "ids": torch.tensor([4, 0, 1, 1, 2, 3]),
            "offsets": torch.tensor([0, 3, 3])}
    for mode in ("sum", "mean", "max"):
        yield "embedding_bag", case(f"{mode}_rows", bag, {"weight": weight, "ids": rows},
                                    {"mode": mode, "padding_idx": 1})
        yield "embedding_bag", case(f"{mode}_offsets", bag, line, {"mode": mode})
    weights = {"per_sample_weights": values(6, seed=1)}
    yield "embedding_bag", case("weights_of_ids", bag, line | weights, {"mode": "sum"})
