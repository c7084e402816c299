"""One step of a recurrent layer."""

from torch import nn

from support.draw import normal
from support.layer import layer

SIZES = dict(input_size=5, hidden_size=7)


def cell(module, inputs):
    x, *state = inputs.values()
    return module(x, tuple(state) if len(state) == 2 else state[0])


def cases():
    for kind, states in ((nn.RNNCell, ("h_0",)), (nn.GRUCell, ("h_0",)),
                         (nn.LSTMCell, ("h_0", "c_0"))):
        inputs = {"x": normal(4, 5)} | {name: normal(4, 7) for name in states}
        yield layer(kind, "plain", SIZES, inputs, call=cell)
        yield layer(kind, "without_bias", SIZES | dict(bias=False), inputs, call=cell)
