"""Vectors for bags of ids, and embeddings with a row that stays."""

import torch
from torch import nn

from support.begin import begin
from support.draw import given, integers, normal
from support.layer import layer

OFFSETS = given(0, 4, 4, 9, dtype=torch.int64)  # the second bag is empty


def cases():
    sizes = dict(num_embeddings=11, embedding_dim=6)
    for mode in ("sum", "mean", "max"):
        arguments = sizes | dict(mode=mode)
        yield layer(nn.EmbeddingBag, mode, arguments, {"ids": integers(11, 4, 5)})
        yield layer(nn.EmbeddingBag, mode + "_offsets", arguments,
                    {"ids": integers(11, 12), "offsets": OFFSETS})
        yield layer(nn.EmbeddingBag, mode + "_padded", arguments | dict(padding_idx=2),
                    {"ids": integers(4, 6, 5)})
    weighted = {"ids": integers(11, 12), "offsets": OFFSETS, "per_sample_weights": normal(12)}
    # bf16 weights of samples and f32 rows are refused by PyTorch: the weights are made f32.
    call = lambda module, inputs: module(
        inputs["ids"], inputs["offsets"], inputs["per_sample_weights"].to(module.weight.dtype))
    yield layer(nn.EmbeddingBag, "weighted", sizes | dict(mode="sum"), weighted, call=call)
    for padding in (3, -1):
        yield layer(nn.Embedding, f"padding_{padding}", sizes | dict(padding_idx=padding),
                    {"ids": integers(11, 40)})
    yield begin(nn.EmbeddingBag, "fresh", dict(num_embeddings=100, embedding_dim=60))
