"""Values that follow from their place, and matrices of a form."""

from support.begin import Initialiser

WEIGHT, KERNEL = (120, 200), (40, 30, 3, 5)


def cases():
    yield Initialiser("eye_", "plain", (4, 6), {}, exact=True)
    for dims in (1, 2, 3):
        yield Initialiser("dirac_", f"{dims}d", (4, 3) + (3,) * dims, {}, exact=True)
    yield Initialiser("dirac_", "groups", (6, 2, 3, 4), dict(groups=3), exact=True)
    yield Initialiser("trunc_normal_", "plain", WEIGHT, {})
    yield Initialiser("trunc_normal_", "narrow", WEIGHT, dict(mean=0.5, std=2.0, a=-1.0, b=0.75))
    yield Initialiser("orthogonal_", "wide", WEIGHT, {})
    yield Initialiser("orthogonal_", "tall", (200, 120), dict(gain=1.5))
    yield Initialiser("orthogonal_", "kernel", KERNEL, {})
    yield Initialiser("sparse_", "plain", WEIGHT, dict(sparsity=0.25))
    yield Initialiser("sparse_", "wide", WEIGHT, dict(sparsity=0.9, std=1.0))
    for kind in ("kaiming_uniform_", "kaiming_normal_"):
        yield Initialiser(kind, "fan_out", KERNEL, dict(mode="fan_out"))
        yield Initialiser(kind, "tanh", WEIGHT, dict(nonlinearity="tanh"))
        yield Initialiser(kind, "relu", WEIGHT, dict(nonlinearity="relu"))
