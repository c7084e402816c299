"""Attention with heads, and the layers that are built of it."""

from torch import nn

from support.begin import begin
from support.draw import mask, normal
from support.layer import NEIGHBOURS, Layer, layer

BATCH, TIME, MEMORY, WIDTH = 3, 5, 6, 8
ATTENTION = dict(embed_dim=WIDTH, num_heads=2)
MEMORY_MASKS = {"mask": (TIME, MEMORY), "key_padding_mask": (BATCH, MEMORY)}
BLOCK = dict(d_model=WIDTH, nhead=2, dim_feedforward=12, dropout=0.0)


def tokens(time, batch_first=True):
    return normal(BATCH, time, WIDTH) if batch_first else normal(time, BATCH, WIDTH)


def causal(size):
    return lambda random: nn.Transformer.generate_square_subsequent_mask(size) != 0


def attend(**asked):
    def call(module, inputs):
        names = {name: x for name, x in inputs.items() if name not in ("query", "key", "value")}
        query, key = inputs["query"], inputs.get("key", inputs["query"])
        return module(query, key, inputs.get("value", key), **names, **asked)
    return call


def attention_layer(name, arguments, inputs, **asked):
    return Layer("MultiheadAttention", name, lambda: nn.MultiheadAttention(**arguments),
                 arguments | asked, inputs, call=attend(**asked), constant=("attn_mask",),
                 neighbours=NEIGHBOURS)


def by_name(module, inputs):
    names = dict(inputs)
    positional = [names.pop(name) for name in ("src", "tgt", "memory") if name in names]
    return module(*positional, **names)


def attention():
    first = ATTENTION | dict(batch_first=True)
    same = {"query": tokens(TIME)}
    other = same | {"key": tokens(MEMORY), "value": tokens(MEMORY)}
    padding = {"key_padding_mask": mask(BATCH, MEMORY)}
    yield "plain", ATTENTION, {"query": tokens(TIME, batch_first=False)}
    yield "batch_first", first, same
    yield "unbatched", ATTENTION, {"query": normal(TIME, WIDTH)}
    yield "without_bias", first | dict(bias=False), same
    yield "other", first, other
    yield "padded", first, other | padding
    yield "masked", first, other | {"attn_mask": mask(TIME, MEMORY)}
    yield "masked_heads", first, other | padding | {"attn_mask": mask(2 * BATCH, TIME, MEMORY)}
    yield "causal", first, same | {"attn_mask": causal(TIME)}
    yield "added_mask", first, other | {"attn_mask": normal(TIME, MEMORY)}
    yield "other_widths", first | dict(kdim=6, vdim=4), same | {
        "key": normal(BATCH, MEMORY, 6), "value": normal(BATCH, MEMORY, 4)}
    yield "bias_kv", first | dict(add_bias_kv=True), other
    yield "zero_attention", first | dict(add_zero_attn=True), other
    yield "more_keys", ATTENTION | dict(add_bias_kv=True, add_zero_attn=True, batch_first=True), (
        other | padding | {"attn_mask": mask(TIME, MEMORY)})


def blocks():
    first = BLOCK | dict(batch_first=True)
    gelu = first | dict(activation="gelu")
    yield "plain", BLOCK, False, {}
    yield "batch_first", first, True, {}
    yield "gelu", gelu, True, {}
    yield "norm_first", gelu | dict(norm_first=True), True, {}
    yield "without_bias", gelu | dict(bias=False, layer_norm_eps=0.25), True, {}
    yield "padded", gelu, True, {"key_padding_mask": mask(BATCH, TIME)}
    yield "causal", gelu, True, {"mask": causal(TIME)}


def cases():
    for name, arguments, inputs in attention():
        yield attention_layer(name, arguments, inputs)
        yield attention_layer(name + "_alone", arguments, inputs, need_weights=False)
    yield attention_layer("weights_of_heads", ATTENTION, {"query": tokens(TIME, batch_first=False)},
                          average_attn_weights=False)
    for name, arguments, first, masks in blocks():
        source = {"src": tokens(TIME, first)} | {"src_" + n: x for n, x in masks.items()}
        more = dict(call=by_name, smooth="activation" in arguments, neighbours=NEIGHBOURS)
        yield layer(nn.TransformerEncoderLayer, name, arguments, source, **more)
        target = {"tgt": tokens(TIME, first), "memory": tokens(MEMORY, first)}
        target |= {"tgt_" + n: x for n, x in masks.items()}
        if masks:
            target |= {"memory_" + n: mask(*shape) for n, shape in MEMORY_MASKS.items()}
        yield layer(nn.TransformerDecoderLayer, name, arguments, target, **more)
    yield begin(nn.MultiheadAttention, "fresh", dict(embed_dim=40, num_heads=2))
    yield begin(nn.MultiheadAttention, "fresh_other_widths",
                dict(embed_dim=40, num_heads=2, kdim=30, vdim=20))
    yield begin(nn.MultiheadAttention, "fresh_more_keys",
                dict(embed_dim=40, num_heads=2, add_bias_kv=True))
    for kind in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer):
        yield begin(kind, "fresh", dict(d_model=40, nhead=2, dim_feedforward=60))
