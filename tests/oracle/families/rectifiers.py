"""Activations in pieces, with numbers on their kinks."""

from torch import nn

from support.begin import begin
from support.draw import normal, with_edges
from support.layer import layer

EDGES = with_edges(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 2.0, -2.0, 3.5, -3.5)
WIDE = with_edges(0.0, 6.0, 6.5, -6.5, count=10)


class ExactHardsigmoid(nn.Module):
    """PyTorch's gradient in f64 is 1/6 in f32."""

    def forward(self, x):
        return nn.functional.relu6(x + 3) / 6


EXACT = {nn.Hardsigmoid: ExactHardsigmoid}
KINDS = {
    nn.LeakyReLU: {"plain": {}, "steep": dict(negative_slope=0.25)},
    nn.ELU: {"plain": {}, "alpha": dict(alpha=0.5)},
    nn.SELU: {"plain": {}},
    nn.CELU: {"plain": {}, "alpha": dict(alpha=0.5)},
    nn.Hardtanh: {"plain": {}, "bounds": dict(min_val=-0.5, max_val=2.0)},
    nn.Hardsigmoid: {"plain": {}},
    nn.Hardswish: {"plain": {}},
    nn.Threshold: {"plain": dict(threshold=0.5, value=20.0),
                   "negative": dict(threshold=-1.0, value=-3.0)},
}


def cases():
    for kind, settings in KINDS.items():
        for name, arguments in settings.items():
            yield layer(kind, name, arguments, {"x": EDGES}, reference=EXACT.get(kind))
    yield layer(nn.ReLU6, "plain", {}, {"x": WIDE})
    yield layer(nn.PReLU, "plain", {}, {"x": EDGES})
    yield layer(nn.PReLU, "channels", dict(num_parameters=5), {"x": normal(3, 5, 4)})
    yield layer(nn.PReLU, "rows", dict(num_parameters=5), {"x": normal(6, 5)})
    yield begin(nn.PReLU, "fresh", dict(num_parameters=5, init=0.5))
    for kind in (nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.SELU, nn.CELU, nn.Hardtanh, nn.Hardsigmoid,
                 nn.Hardswish):
        yield layer(kind, "in_place", dict(inplace=True), {"x": normal(20)},
                    call=lambda module, inputs: module(inputs["x"] * 1.0),
                    reference=EXACT.get(kind))
