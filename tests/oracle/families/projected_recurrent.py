"""LSTM whose hidden state is a product of a smaller width."""

from torch import nn

from families.recurrent import SIZES, recurrent, sequence, states


def cases():
    projected = SIZES | dict(proj_size=3, num_layers=2, bidirectional=True)
    yield recurrent(nn.LSTM, "projected", projected, {"x": sequence()})
    yield recurrent(nn.LSTM, "projected_states", projected,
                    {"x": sequence()} | states(nn.LSTM, 2, 2, hidden=3))
