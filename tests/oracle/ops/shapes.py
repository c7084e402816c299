"""Moving elements without computing."""

import torch
import torch.nn.functional as F

from ops.case import case, values


def moves():
    x = {"x": values(4, 6)}
    yield "reshape", case("merge", lambda x, shape: x.reshape(shape), x, {"shape": [3, 8]})
    yield "reshape", case("infer", lambda x, shape: x.transpose(0, 1).reshape(shape), x,
                          {"shape": [2, -1, 3]})
    yield "transpose", case("matrix", lambda x, first, second: x.transpose(first, second), x,
                            {"first": 0, "second": -1})
    yield "permute", case("rotate", lambda x, order: x.permute(order), {"x": values(2, 3, 4)},
                          {"order": [2, 0, 1]})
    yield "expand", case("both", lambda x, shape: x.expand(shape), {"x": values(3, 1)},
                         {"shape": [2, 3, 4]})
    yield "flip", case("both", lambda x, dims: x.flip(dims), x, {"dims": [0, 1]})
    for name in ("tril", "triu"):
        for diagonal in (-1, 0, 2):
            function = getattr(torch, name)
            yield name, case(f"diagonal_{diagonal}", lambda x, diagonal: function(x, diagonal),
                             {"x": values(2, 4, 5)}, {"diagonal": diagonal})


def parts():
    x = {"x": values(4, 6)}
    for start, end, step in ((1, 5, 1), (-3, 6, 1), (0, 6, 2)):
        attrs = {"dim": 1, "start": start, "end": end, "step": step}
        yield "slice", case(f"{start}_{end}_{step}",
                            lambda x, dim, start, end, step: x[:, start:end:step], x, attrs)
    for part in (0, 1):
        yield "split", case(f"part_{part}", lambda x, size, dim, part: x.split(size, dim)[part], x,
                            {"size": 4, "dim": 1, "part": part})
    two = {"x": values(2, 3), "y": values(2, 3, seed=1)}
    for dim in (0, 1, -1):
        yield "concat", case(f"dim_{dim}", lambda x, y, dim: torch.cat([x, y], dim), two,
                             {"dim": dim})
        yield "stack", case(f"dim_{dim}", lambda x, y, dim: torch.stack([x, y], dim), two,
                            {"dim": dim})
    yield "pad", case("both_dims", lambda x, before, after, value: F.pad(
        x, [before[1], after[1], before[0], after[0]], value=value), {"x": values(2, 3)},
        {"before": [1, 0], "after": [0, 2], "value": 0.5})


def indexing():
    x = values(4, 6)
    index = torch.tensor([[0, 3, 3, 1, 2, 0], [1, 1, 2, 0, 0, 3]])
    yield "gather", case("dim_0", lambda x, index, dim: x.gather(dim, index),
                         {"x": x, "index": index}, {"dim": 0})
    yield "scatter_add", case("repeated", lambda x, index, source, dim: x.scatter_add(
        dim, index, source), {"x": x, "index": index, "source": values(2, 6, seed=1)}, {"dim": 0})
    chosen = torch.tensor([5, 0, 0, 2])
    yield "index_select", case("repeated", lambda x, index, dim: x.index_select(dim, index),
                               {"x": x, "index": chosen}, {"dim": 1})
    yield "one_hot", case("classes", lambda x, classes: F.one_hot(x, classes), {"x": chosen},
                          {"classes": 7})
    yield "embedding", case("repeated", lambda weight, ids: F.embedding(ids, weight),
                            {"weight": values(4, 3), "ids": index})


def cases():
    yield from moves()
    yield from parts()
    yield from indexing()
