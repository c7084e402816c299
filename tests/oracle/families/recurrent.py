"""Recurrent layers, over whole sequences and over sequences of unequal lengths."""

import torch
from torch import nn
from torch.nn.utils import rnn

from support.begin import begin
from support.draw import given, normal
from support.layer import NEIGHBOURS, layer

TIME, BATCH, WIDTH, HIDDEN, PROJECTED = 6, 4, 5, 7, 3
SIZES = dict(input_size=WIDTH, hidden_size=HIDDEN)
SETTINGS = {
    "plain": {},
    "without_bias": dict(bias=False),
    "two_layers": dict(num_layers=2),
    "both_ways": dict(bidirectional=True),
    "both_ways_two_layers": dict(bidirectional=True, num_layers=2),
    "batch_first": dict(batch_first=True),
}
LENGTHS = given(4, 6, 1, 3, dtype=torch.int64)


def sequence(batch_first=False):
    return normal(BATCH, TIME, WIDTH) if batch_first else normal(TIME, BATCH, WIDTH)


def states(kind, layers=1, directions=1, hidden=HIDDEN):
    shape = (layers * directions, BATCH)
    first = {"h_0": normal(*shape, hidden)}
    return first | ({"c_0": normal(*shape, HIDDEN)} if kind is nn.LSTM else {})


def call(module, inputs):
    """With initial states if there are any, packed if there are lengths."""
    x, lengths = inputs["x"], inputs.get("lengths")
    state = tuple(inputs[name] for name in ("h_0", "c_0") if name in inputs)
    state = state if len(state) == 2 else state[0] if state else None
    if lengths is None:
        return module(x, state)
    first = module.batch_first
    packed = rnn.pack_padded_sequence(x, lengths, batch_first=first, enforce_sorted=False)
    packed, state = module(packed, state)
    time = x.shape[1 if first else 0]
    return rnn.pad_packed_sequence(packed, batch_first=first, total_length=time)[0], state


def recurrent(kind, name, arguments, inputs, **more):
    return layer(kind, name, arguments, inputs, call=call, neighbours=NEIGHBOURS, **more)


def projected():
    """LSTM whose hidden state is a product of fewer numbers."""
    one = SIZES | dict(proj_size=PROJECTED)
    both = one | dict(num_layers=2, bidirectional=True)
    first = states(nn.LSTM, 2, 2, hidden=PROJECTED)
    yield recurrent(nn.LSTM, "projected", one, {"x": sequence()})
    yield recurrent(nn.LSTM, "projected_without_bias", one | dict(bias=False), {"x": sequence()})
    yield recurrent(nn.LSTM, "projected_batch_first", both | dict(batch_first=True),
                    {"x": sequence(batch_first=True)})
    yield recurrent(nn.LSTM, "projected_states", both, {"x": sequence()} | first)
    yield recurrent(nn.LSTM, "projected_states_lengths", both,
                    {"x": sequence(), "lengths": LENGTHS} | first)
    yield recurrent(nn.LSTM, "projected_unbatched", one, {"x": normal(TIME, WIDTH)})
    yield begin(nn.LSTM, "fresh_projected",
                dict(input_size=20, hidden_size=30, num_layers=2, proj_size=15))


def cases():
    for kind in (nn.RNN, nn.LSTM, nn.GRU):
        for name, more in SETTINGS.items():
            inputs = {"x": sequence(more.get("batch_first", False))}
            yield recurrent(kind, name, SIZES | more, inputs)
            inputs = inputs | {"lengths": LENGTHS}
            yield recurrent(kind, name + "_lengths", SIZES | more, inputs)
        both = SIZES | dict(bidirectional=True, num_layers=2)
        yield recurrent(kind, "states", both, {"x": sequence()} | states(kind, 2, 2))
        yield recurrent(kind, "states_lengths", both,
                        {"x": sequence(), "lengths": LENGTHS} | states(kind, 2, 2))
        yield recurrent(kind, "unbatched", SIZES, {"x": normal(TIME, WIDTH)})
        yield begin(kind, "fresh", dict(input_size=20, hidden_size=30, num_layers=2))
    yield from projected()
    yield recurrent(nn.RNN, "relu", SIZES | dict(nonlinearity="relu"), {"x": sequence()},
                    smooth=False)
