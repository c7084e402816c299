"""LSTM whose hidden state is a product of a smaller width."""

from torch import nn

from families.recurrent import SIZES, call, sequence, states
from support.layer import layer


def cases():
    projected = SIZES | dict(proj_size=3, num_layers=2, bidirectional=True)
    yield layer(nn.LSTM, "projected", projected, {"x": sequence()}, call=call)
    yield layer(nn.LSTM, "projected_states", projected,
                {"x": sequence()} | states(nn.LSTM, 2, 2, hidden=3), call=call)
