import torch

from ops.case import case, values

NAN = float("nan")


def reduce(function):
    """`function` over the dims `dim`; all of them when it is empty."""
    def reduced(x, dim, keepdim):
        return function(x, tuple(dim) if dim else tuple(range(x.dim())), keepdim)
    return reduced


OVER_DIMS = dict(
    sum=torch.sum,
    mean=torch.mean,
    max=torch.amax,
    min=torch.amin,
    logsumexp=torch.logsumexp,
)
CHOICES = [([], False), ([1], False), ([0, 2], True), ([-1], True)]


def over_dims():
    x = values(3, 4, 2)
    for name, function in OVER_DIMS.items():
        for dim, keepdim in CHOICES:
            chosen = "all" if not dim else "_".join(map(str, dim))
            yield name, case(f"dims_{chosen}", reduce(function), {"x": x},
                             {"dim": dim, "keepdim": keepdim})
    for correction in (0, 1):
        for dim in ([], [1], [0, 2]):
            attrs = {"dim": dim, "correction": correction}
            yield "var", case(
                f"correction_{correction}_of_{len(dim)}",
                lambda x, dim, correction: x.var(dim or None, correction=correction),
                {"x": x}, attrs)
    for order in (0.5, 1.0, 2.0, 3.0, torch.inf):
        for dim in ([], [1]):
            yield "norm", case(
                f"order_{order}_of_{len(dim)}",
                lambda x, order, dim: torch.linalg.vector_norm(x, float(order), dim or None),
                {"x": x}, {"order": str(order), "dim": dim})


def choices():
    """Ties, and what is not a number."""
    tied = values(4, 6).round()
    holed = values(3, 5)
    holed[1, 2] = NAN
    for name in ("max", "min"):
        attrs = {"dim": [1], "keepdim": False}
        yield name, case("ties", reduce(OVER_DIMS[name]), {"x": tied}, attrs)
        yield name, case("not_a_number", lambda **k: reduce(OVER_DIMS[name])(**k).detach(),
                         {"x": holed}, attrs)
    for name, function in dict(argmax=torch.argmax, argmin=torch.argmin).items():
        for label, x in dict(ties=tied, not_a_number=holed).items():
            for dim in (0, 1):
                yield name, case(f"{label}_dim_{dim}", lambda x, dim: function(x, dim), {"x": x},
                                 {"dim": dim})
    x = values(4, 6)
    for largest in (True, False):
        for part in (0, 1):
            attrs = {"k": 3, "dim": 1, "largest": largest, "part": part}
            name = ("values" if part == 0 else "indices") + ("" if largest else "_smallest")
            yield "topk", case(name, lambda x, k, dim, largest, part: x.topk(k, dim, largest)[part],
                               {"x": x}, attrs)
            yield "topk", case(
                name + "_not_a_number",
                lambda x, k, dim, largest, part: x.detach().topk(k, dim, largest)[part],
                {"x": holed}, attrs)
    ties = {"k": 4, "dim": 1, "largest": True, "part": 0}
    yield "topk", case("ties", lambda x, k, dim, largest, part: x.detach().topk(k, dim)[0],
                       {"x": tied}, ties)


def along_dims():
    x = values(4, 6)
    masked = x.clone()
    masked[:, 1] = -torch.inf
    masked[2, 3:] = -torch.inf
    for name in ("softmax", "log_softmax", "cumsum"):
        function = getattr(torch, name)
        for dim in (0, 1):
            yield name, case(f"dim_{dim}", lambda x, dim: function(x, dim), {"x": x}, {"dim": dim})
    yield "softmax", case("minus_infinity", lambda x, dim: x.softmax(dim), {"x": masked},
                          {"dim": 1})
    holed = x.clone()
    holed[0, 1] = 0
    holed[1, 2:4] = 0
    for label, inputs in dict(plain=x, with_zeros=holed).items():
        yield "prod", case(label, lambda x, dim: x.prod(dim), {"x": inputs}, {"dim": 1})


def cases():
    yield from over_dims()
    yield from choices()
    yield from along_dims()
