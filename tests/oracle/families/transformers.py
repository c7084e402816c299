"""Stacks of Transformer layers."""

from torch import nn

from families.attention import BLOCK, MEMORY, TIME, by_name, causal, tokens
from support.layer import NEIGHBOURS, Layer

LAYER = BLOCK | dict(activation="gelu", batch_first=True)
KINDS = {nn.TransformerEncoder: nn.TransformerEncoderLayer,
         nn.TransformerDecoder: nn.TransformerDecoderLayer}


def stack(kind, name, arguments, final_norm, inputs):
    def build():
        norm = nn.LayerNorm(arguments["d_model"]) if final_norm else None
        return kind(KINDS[kind](**arguments), 2, norm)
    return Layer(kind.__name__, name, build,
                 arguments | dict(num_layers=2, final_norm=final_norm), inputs, call=by_name,
                 neighbours=NEIGHBOURS)


def cases():
    source = {"src": tokens(TIME)}
    yield stack(nn.TransformerEncoder, "plain", LAYER, False, source)
    yield stack(nn.TransformerEncoder, "norm_first", LAYER | dict(norm_first=True), True,
                source | {"mask": causal(TIME)})
    target = {"tgt": tokens(TIME), "memory": tokens(MEMORY)}
    yield stack(nn.TransformerDecoder, "plain", LAYER, False, target)
    yield stack(nn.TransformerDecoder, "norm_first", LAYER | dict(norm_first=True), True,
                target | {"tgt_mask": causal(TIME)})
