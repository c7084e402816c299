"""Values that follow from the fans of a weight, and plain distributions."""

from support.begin import Initialiser

WEIGHT, KERNEL = (120, 200), (40, 30, 3, 5)


def cases():
    yield Initialiser("constant_", "plain", (3, 4), dict(val=-0.5), exact=True)
    yield Initialiser("ones_", "plain", (3, 4), {}, exact=True)
    yield Initialiser("zeros_", "plain", (3, 4), {}, exact=True)
    yield Initialiser("uniform_", "plain", WEIGHT, {})
    yield Initialiser("uniform_", "shifted", WEIGHT, dict(a=-2.0, b=6.0))
    yield Initialiser("normal_", "plain", WEIGHT, {})
    yield Initialiser("normal_", "shifted", WEIGHT, dict(mean=5.0, std=0.02))
    for shape_name, shape in (("weight", WEIGHT), ("kernel", KERNEL)):
        for kind in ("xavier_uniform_", "xavier_normal_"):
            yield Initialiser(kind, shape_name, shape, {})
            yield Initialiser(kind, shape_name + "_gain", shape, dict(gain=1.5))
        for kind in ("kaiming_uniform_", "kaiming_normal_"):
            yield Initialiser(kind, shape_name, shape, {})
            yield Initialiser(kind, shape_name + "_leaky", shape, dict(a=0.25))
