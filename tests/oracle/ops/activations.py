import torch
import torch.nn.functional as F

from ops.case import case, values

INF = float("inf")
# Values at which functions have kinks, beside others on both sides of them.
KINKS = [-6.0, -3.0, -2.984375, -1.0, -0.5, -0.015625, 0.0, -0.0, 0.5, 1.0, 2.0, 3.0, 3.015625, 6.0, 6.5]
PLAIN = dict(mish=F.mish, selu=F.selu, softsign=F.softsign, log_sigmoid=F.logsigmoid,
             hardswish=F.hardswish, relu6=F.relu6)
WITH = dict(leaky_relu=(F.leaky_relu, dict(negative_slope=0.25)), elu=(F.elu, dict(alpha=1.5)),
            celu=(F.celu, dict(alpha=0.5)), softplus=(F.softplus, dict(beta=2.0, threshold=6.0)),
            hardtanh=(F.hardtanh, dict(min_val=-3.0, max_val=2.0)),
            threshold=(F.threshold, dict(threshold=0.5, value=9.0)))


def cases():
    x = torch.tensor(KINKS, dtype=torch.float64)
    far = torch.tensor([INF, -INF, -200.0, 200.0], dtype=torch.float64)
    for name, function in PLAIN.items():
        yield name, case("kinks", lambda x: function(x), {"x": x})
    for name, (function, attrs) in WITH.items():
        yield name, case("kinks", lambda x, **options: function(x, **options), {"x": x}, attrs)
        yield name, case("far", lambda x, **options: function(x.detach(), **options), {"x": far}, attrs)
    # F.hardsigmoid multiplies gradients with 1 / 6 as a float, in f64 too.
    yield "hardsigmoid", case("kinks", lambda x: F.hardtanh(x + 3, 0, 6) / 6, {"x": x})
    for name, shape, dim in (("last", (3, 4), -1), ("first", (4, 3), 0)):
        yield "glu", case(name, lambda x, dim: F.glu(x, dim), {"x": values(*shape)}, {"dim": dim})
    for name, shape, count in (("one", (2, 3, 4), 1), ("channels", (2, 3, 4), 3), ("rows", (4, 2), 2)):
        inputs = {"x": values(*shape), "weight": values(count, seed=1)}
        yield "prelu", case(name, lambda x, weight: F.prelu(x, weight), inputs)

