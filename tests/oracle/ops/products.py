import torch
import torch.nn.functional as F

from ops.case import case, values

MATMUL = {
    "matrices": ((3, 5), (5, 4)),
    "vectors": ((5,), (5,)),
    "matrix_vector": ((3, 5), (5,)),
    "vector_matrix": ((5,), (5, 4)),
    "batch": ((2, 3, 5), (2, 5, 4)),
    "batch_matrix": ((2, 3, 5), (5, 4)),
    "matrix_batch": ((3, 5), (2, 5, 4)),
    "broadcast": ((2, 1, 3, 5), (3, 5, 2)),
    "batch_vector": ((2, 3, 5), (5,)),
    "vector_batch": ((5,), (2, 5, 4)),
}


def cases():
    for name, (left, right) in MATMUL.items():
        inputs = {"a": values(*left), "b": values(*right, seed=1)}
        yield "matmul", case(name, torch.matmul, inputs, positional=True)
    parts = {"x": values(2, 3, 5), "weight": values(4, 5, seed=1), "bias": values(4, seed=2)}
    for names in (("x", "weight"), ("x", "weight", "bias")):
        yield "linear", case("_".join(names), F.linear, {n: parts[n] for n in names},
                             positional=True)
    vector = parts | {"x": values(5)}
    yield "linear", case("vector", F.linear, vector, positional=True)
