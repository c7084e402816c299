"""Vectors for ids."""

from torch import nn

from support.begin import begin
from support.draw import integers
from support.layer import layer


def cases():
    arguments = dict(num_embeddings=11, embedding_dim=6)
    yield layer(nn.Embedding, "plain", arguments, {"ids": integers(11, 3, 5)})
    yield layer(nn.Embedding, "repeated", arguments, {"ids": integers(2, 40)})
    yield begin(nn.Embedding, "fresh", dict(num_embeddings=300, embedding_dim=100))
