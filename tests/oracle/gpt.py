"""GPT-2 in PyTorch, with the names and the arithmetic of nanoGPT: the oracle of examples/gpt.

Learned positions, pre-norm blocks, GELU in its tanh form, biases everywhere, no dropout, linear
weights as out x in, and a head that is tied to the token embedding unless asked otherwise.
"""

import dataclasses
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclasses.dataclass(frozen=True)
class Config:
    layers: int = 12
    heads: int = 12
    width: int = 768
    context: int = 1024
    vocab: int = 50257
    tied: bool = True


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.c_attn = nn.Linear(config.width, 3 * config.width)
        self.c_proj = nn.Linear(config.width, config.width)

    def forward(self, x):
        batch, time, width = x.shape
        split = (batch, time, self.heads, width // self.heads)
        q, k, v = (part.view(split).transpose(1, 2) for part in self.c_attn(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(batch, time, width))


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.width, 4 * config.width)
        self.c_proj = nn.Linear(4 * config.width, config.width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.width)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNorm(config.width)
        self.mlp = MLP(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.transformer = nn.ModuleDict(
            dict(
                wte=nn.Embedding(config.vocab, config.width),
                wpe=nn.Embedding(config.context, config.width),
                h=nn.ModuleList(Block(config) for _ in range(config.layers)),
                ln_f=nn.LayerNorm(config.width),
            )
        )
        self.lm_head = nn.Linear(config.width, config.vocab, bias=False)
        if config.tied:
            self.lm_head.weight = self.transformer.wte.weight

    def forward(self, tokens, targets):
        """The mean cross entropy of `targets`, both [batch, time]."""
        positions = torch.arange(tokens.shape[1])
        x = self.transformer.wte(tokens) + self.transformer.wpe(positions)
        for block in self.transformer.h:
            x = block(x)
        logits = self.lm_head(self.transformer.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


@torch.no_grad()
def initialise(model, seed, std=0.02, spread=0.0):
    """Normal weights as GPT-2 has them. `spread` also moves biases and norms off their 0 and 1,
    so that a fixture notices when one of them is ignored."""
    random = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        residual = name.endswith("c_proj.weight")
        if parameter.dim() >= 2:
            scale = std / math.sqrt(2 * model.config.layers) if residual else std
            parameter.normal_(0.0, scale, generator=random)
        else:
            centre = 1.0 if name.endswith("weight") else 0.0
            parameter.normal_(centre, spread, generator=random) if spread else parameter.fill_(centre)


def weights_of(model):
    """Name -> parameter, each once: a tied head is absent."""
    return dict(model.named_parameters())
