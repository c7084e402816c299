"""One golden case: an op's inputs and attributes, its outputs, and the gradients of its floating
inputs, all computed by PyTorch in f64 from inputs that every floating dtype holds exactly."""

import math

import torch

NAMES = {
    torch.bool: "bool",
    torch.uint8: "u8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex32: "c32",
    torch.bcomplex32: "bc32",
    torch.complex64: "c64",
    torch.complex128: "c128",
}


def values(*shape, seed=0, scale=1.0, step=64):
    """Normal numbers, rounded to multiples of 1 / `step` and cut to +-3.9."""
    random = torch.Generator().manual_seed(seed * 7919 + math.prod(shape))
    x = torch.randn(shape, generator=random, dtype=torch.float64) * scale
    return (x * step).round().div(step).clamp(-3.90625, 3.90625)


def number(x):
    """JSON has no word for what is not finite."""
    return x if not isinstance(x, float) or math.isfinite(x) else str(x)


def tensor(x):
    x = x.detach()
    data = [number(value) for value in x.reshape(-1).tolist()]
    return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data": data}


def tensors(named):
    return {name: tensor(x) for name, x in named.items()}


def case(name, function, inputs, attrs=None, parse=None, positional=False):
    """Calls `function(**inputs, **attrs)`, the inputs without names if `positional`, the attributes
    after `parse`. The gradients are those of sum(y * upstream)."""
    attrs = attrs or {}
    leaves = {
        name: x.clone().requires_grad_(x.is_floating_point()) for name, x in inputs.items()
    }
    given = {key: parse(value) for key, value in attrs.items()} if parse else attrs
    y = function(*leaves.values(), **given) if positional else function(**leaves, **given)
    record = {"name": name, "attrs": attrs, "inputs": tensors(inputs)}
    record["outputs"] = {"y": tensor(y)}
    if y.requires_grad:
        upstream = values(*y.shape, seed=99)
        y.backward(upstream)
        record["upstream"] = tensor(upstream)
        record["gradients"] = tensors({n: x.grad for n, x in leaves.items() if x.grad is not None})
    return record
