"""The training recipe of examples/gpt: order of data, learning rate, optimizer, one step."""

import dataclasses
import math

import numpy
import torch


@dataclasses.dataclass(frozen=True)
class Recipe:
    batch: int = 8
    steps: int = 20
    lr: float = 1e-3
    min_lr: float = 1e-4
    warmup: int = 4
    weight_decay: float = 0.1
    clip: float = 1.0
    beta1: float = 0.9
    beta2: float = 0.95


def read_tokens(path):
    """Bytes of a text, or the uint16 tokens of a .bin file."""
    kind = numpy.uint16 if str(path).endswith(".bin") else numpy.uint8
    return torch.from_numpy(numpy.fromfile(path, dtype=kind).astype(numpy.int64))


def sequential_batch(tokens, context, batch, step):
    """(inputs, targets) of step `step`, counted from 0. Window i holds the context + 1 tokens from
    token i * context on; after the last whole window comes the first again."""
    windows = (len(tokens) - 1) // context
    first = [(step * batch + row) % windows * context for row in range(batch)]
    rows = torch.stack([tokens[i : i + context + 1] for i in first])
    return rows[:, :-1], rows[:, 1:]


def learning_rate(recipe, step):
    """Linear warm-up, then cosine down to `min_lr` at `steps`; `step` counts from 0."""
    if step < recipe.warmup:
        return recipe.lr * (step + 1) / (recipe.warmup + 1)
    if step >= recipe.steps:
        return recipe.min_lr
    done = (step - recipe.warmup) / (recipe.steps - recipe.warmup)
    return recipe.min_lr + 0.5 * (1 + math.cos(math.pi * done)) * (recipe.lr - recipe.min_lr)


def make_adamw(model, recipe, fused=False):
    """Weight decay on tensors of two or more dimensions only."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": recipe.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    betas = (recipe.beta1, recipe.beta2)
    return torch.optim.AdamW(groups, lr=recipe.lr, betas=betas, eps=1e-8, fused=fused)


def train(model, tokens, recipe):
    """Runs the recipe in f32; one record a step, with the loss before the update and the gradient
    norm before clipping, steps counted from 1 as in the program's log."""
    optimizer = make_adamw(model, recipe)
    records = []
    for step in range(recipe.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(recipe, step)
        optimizer.zero_grad(set_to_none=True)
        loss = model(*sequential_batch(tokens, model.config.context, recipe.batch, step))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimizer.step()
        records.append(
            {
                "step": step + 1,
                "loss": loss.item(),
                "lr": learning_rate(recipe, step),
                "grad_norm": norm.item(),
            }
        )
    return records
