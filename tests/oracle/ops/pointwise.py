import torch
import torch.nn.functional as F

from ops.case import case, values

INF, NAN = float("inf"), float("nan")
UNARY = dict(silu=F.silu, sigmoid=torch.sigmoid, tanh=torch.tanh, erf=torch.erf, relu=F.relu,
             abs=torch.abs, sign=torch.sign, neg=torch.neg, exp=torch.exp, sin=torch.sin,
             cos=torch.cos, isfinite=torch.isfinite)
POSITIVE = dict(log=torch.log, sqrt=torch.sqrt, rsqrt=torch.rsqrt)
BINARY = dict(add=torch.add, sub=torch.sub, mul=torch.mul, div=torch.div, maximum=torch.maximum,
              minimum=torch.minimum)
IN_PLACE = dict(add_=torch.Tensor.add_, sub_=torch.Tensor.sub_, mul_=torch.Tensor.mul_,
                div_=torch.Tensor.div_)
COMPARISONS = dict(eq=torch.eq, ne=torch.ne, lt=torch.lt, le=torch.le, gt=torch.gt, ge=torch.ge)


def numbers(*listed):
    return torch.tensor(listed, dtype=torch.float64)


def away_from_zero(x):
    return torch.where(x < 0, x - 0.25, x + 0.25)


def unary():
    x = torch.cat([values(17, scale=2.0), numbers(0.0, -0.0, 3.5, -3.5)])
    strange = numbers(INF, -INF, NAN, 1.0)
    for approximate in ("none", "tanh"):
        yield "gelu", case(approximate, lambda x, approximate: F.gelu(x, approximate=approximate),
                           {"x": x}, {"approximate": approximate})
    for name, function in UNARY.items():
        yield name, case(name, lambda x: function(x), {"x": x})
        yield name, case("not_finite", lambda x: function(x.detach()), {"x": strange})
    positive = torch.cat([values(9, seed=1).abs() + 0.25, numbers(1.0, 3.90625)])
    for name, function in POSITIVE.items():
        yield name, case(name, lambda x: function(x), {"x": positive})
        outside = numbers(0.0, -1.0, INF, NAN)
        yield name, case("outside", lambda x: function(x.detach()), {"x": outside})


def binary():
    wide, tall = values(2, 1, 3), away_from_zero(values(4, 1, seed=1))
    tied = {"x": values(12).round(), "y": values(12, seed=1).round()}
    holed = {"x": numbers(NAN, 1.0, NAN, 2.0), "y": numbers(1.0, NAN, NAN, 2.0)}
    for name, function in BINARY.items():
        same = {"x": values(3, 4), "y": away_from_zero(values(3, 4, seed=1))}
        yield name, case("same_shape", lambda x, y: function(x, y), same)
        yield name, case("broadcast", lambda x, y: function(x, y), {"x": wide, "y": tall})
        yield name, case("not_a_number", lambda x, y: function(x.detach(), y.detach()), holed)
        if "imum" in name:
            yield name, case("ties", lambda x, y: function(x, y), tied)
    for name, function in IN_PLACE.items():
        inputs = {"x": values(4, 3), "y": away_from_zero(values(3, seed=1))}
        yield name, case("broadcast", lambda x, y: function(x.clone(), y), inputs)
    for name, function in COMPARISONS.items():
        yield name, case("ties", lambda x, y: function(x, y), tied)
        yield name, case("not_a_number", lambda x, y: function(x, y), holed)
        with_number = {"x": numbers(0.25, 0.5, 0.75)}
        yield name, case("number", lambda x, y: function(x, y), with_number, {"y": 0.5})


def cases():
    yield from unary()
    yield from binary()
    x = torch.cat([values(17, scale=2.0), numbers(1.0, -1.0, 0.0, 3.5)])
    for low, high in ((-1.0, 1.0), (-INF, 0.5), (0.25, INF)):
        yield "clamp", case(f"{low}_to_{high}", lambda x, low, high: x.clamp(low, high), {"x": x},
                            {"low": str(low), "high": str(high)}, parse=float)
    base = values(9, seed=1).abs() + 0.25
    yield "pow", case("tensor", lambda x, y: x**y, {"x": base, "y": values(9, seed=2)})
    for exponent in (0, 1, 2, 3, -1, 0.5):
        yield "pow", case(f"number_{exponent}", lambda x, exponent: x**exponent, {"x": base},
                          {"exponent": exponent})
    signed = {"x": torch.cat([values(9), numbers(0.0)])}
    yield "pow", case("square_of_negative", lambda x, exponent: x**exponent, signed,
                      {"exponent": 2})
    yield "where", case("mask", lambda mask, x, y: torch.where(mask, x, y),
                        {"mask": base > 1, "x": values(9, seed=3), "y": values(9, seed=4)})
    mixed = {"mask": values(3, 1) > 0, "x": values(4, seed=3), "y": values(3, 4, seed=4)}
    yield "where", case("broadcast", lambda mask, x, y: torch.where(mask, x, y), mixed)
    for dtype in (torch.int32, torch.bool):
        yield "cast", case(str(dtype).split(".")[1], lambda x, dtype: x.to(getattr(torch, dtype)),
                           {"x": values(9, scale=2.0)}, {"dtype": str(dtype).split(".")[1]})
