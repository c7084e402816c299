"""PyTorch's dtype rules: of pairs, with 0-dim tensors and plain numbers, and of single ops."""

import torch

from ops.case import NAMES

SCALARS = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}
UNARY = {
    "neg": lambda x: -x,
    "abs": torch.abs,
    "sign": torch.sign,
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "sin": torch.sin,
    "erf": torch.erf,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "isfinite": torch.isfinite,
    "sum": torch.sum,
    "mean": torch.mean,
    "prod": torch.prod,
    "max": torch.max,
    "argmax": torch.argmax,
    "var": torch.var,
    "cumsum": lambda x: torch.cumsum(x, 0),
    "logsumexp": lambda x: torch.logsumexp(x, 0),
    "norm": lambda x: torch.linalg.vector_norm(x),
    "div": lambda x: x / x,
    "pow_2": lambda x: x**2,
    "equal": lambda x: x == x,
}


# PyTorch has complex numbers of two f16 or two bf16 as well, seen here only as results.
TYPES = {dtype: name for dtype, name in NAMES.items() if name not in ("c32", "bc32")}


def joined(left, right):
    return NAMES[torch.result_type(left, right)]


def pairs(right_shape):
    return {
        left: {
            right: joined(torch.ones(2, dtype=a), torch.ones(right_shape, dtype=b))
            for b, right in TYPES.items()
        }
        for a, left in TYPES.items()
    }


def with_scalars():
    return {
        name: {
            kind: joined(torch.ones(2, dtype=dtype), value) for kind, value in SCALARS.items()
        }
        for dtype, name in TYPES.items()
    }


def result(function, dtype):
    try:
        return NAMES[function(torch.ones(3, dtype=dtype)).dtype]
    except (RuntimeError, TypeError):
        return "error"


def rules():
    return {
        "tensor_tensor": pairs((2,)),
        "tensor_zero_dim": pairs(()),
        "tensor_number": with_scalars(),
        "op_result": {
            op: {name: result(function, dtype) for dtype, name in TYPES.items()}
            for op, function in UNARY.items()
        },
    }
