import torch

from ops.case import case, values


def cases():
    x = values(4, 6)
    for dim in (0, 1):
        attrs = {"dim": dim}
        yield "logsumexp", case(f"dim_{dim}", lambda x, dim: x.logsumexp(dim), {"x": x}, attrs)
        yield "softmax", case(f"dim_{dim}", lambda x, dim: x.softmax(dim), {"x": x}, attrs)
        yield "log_softmax", case(f"dim_{dim}", lambda x, dim: x.log_softmax(dim), {"x": x}, attrs)
        yield "cumsum", case(f"dim_{dim}", lambda x, dim: x.cumsum(dim), {"x": x}, attrs)
    for correction in (0, 1):
        yield "var", case(f"correction_{correction}",
                          lambda x, dim, correction: x.var(dim, correction=correction),
                          {"x": x}, {"dim": 1, "correction": correction})
    for order in (1.0, 2.0, 3.0):
        yield "norm", case(f"order_{order:.0f}",
                           lambda x, order: torch.linalg.vector_norm(x, order),
                           {"x": x}, {"order": order})
    holed = x.clone()
    holed[0, 1] = 0
    holed[1, 2:4] = 0
    yield "prod", case("with_zeros", lambda x, dim: x.prod(dim), {"x": holed}, {"dim": 1})
    tied = x.round()
    yield "argmax", case("ties", lambda x, dim: x.argmax(dim), {"x": tied}, {"dim": 1})
    yield "argmin", case("ties", lambda x, dim: x.argmin(dim), {"x": tied}, {"dim": 1})
    yield "topk", case("values", lambda x, k, dim: x.topk(k, dim)[0], {"x": x}, {"k": 3, "dim": 1})
    yield "topk", case("indices", lambda x, k, dim: x.topk(k, dim)[1], {"x": x}, {"k": 3, "dim": 1})
    masked = x.clone()
    masked[:, 1] = -torch.inf
    masked[2, 3:] = -torch.inf
    yield "softmax", case("minus_infinity", lambda x, dim: x.softmax(dim), {"x": masked}, {"dim": 1})
