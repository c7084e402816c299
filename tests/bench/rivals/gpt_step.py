"""One whole GPT-2 training step in PyTorch, as its users write it: forward, backward, clip,
fused AdamW."""

import argparse
import contextlib
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))

import gpt  # noqa: E402
import training  # noqa: E402
import weights  # noqa: E402


def parse_options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--init", help="HDF5 file with model/NAME; without it random weights")
    parser.add_argument("--data", required=True, help="uint16 tokens")
    for name, default in dict(layers=12, heads=12, width=768, vocab=50257).items():
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--positions", type=int, default=1024, help="rows of the position table")
    parser.add_argument("--context", type=int, default=256, help="tokens of a sequence")
    parser.add_argument("--batch", type=int, default=4, help="sequences a step over all ranks")
    parser.add_argument("--untied", action="store_true")
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def make_model(options):
    sizes = {name: getattr(options, name) for name in ("layers", "heads", "width", "vocab")}
    model = gpt.GPT(gpt.Config(**sizes, context=options.positions, tied=not options.untied))
    if options.init:
        weights.load_hdf5(options.init, model)
    else:
        gpt.initialise(model, seed=1234)
    return model


class Trainer:
    """Steps over the sequential order of the tokens; rank `rank` of `ranks` takes its share of
    each batch."""

    def __init__(self, options, model, forward, rank=0, ranks=1):
        self.options, self.model, self.forward = options, model, forward
        self.rank, self.ranks, self.steps = rank, ranks, 0
        self.tokens = training.read_tokens(options.data)
        recipe = training.Recipe(batch=options.batch, lr=options.lr)
        self.clip = recipe.clip
        self.optimizer = training.make_adamw(model, recipe, fused=True)

    def batch(self):
        options = self.options
        whole = training.sequential_batch(self.tokens, options.context, options.batch, self.steps)
        return [part.chunk(self.ranks)[self.rank].contiguous() for part in whole]

    def autocast(self):
        if self.options.dtype == "f32":
            return contextlib.nullcontext()
        return torch.autocast("cpu", dtype=torch.bfloat16)

    def step(self):
        tokens, targets = self.batch()
        start = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast():
            loss = self.forward(tokens, targets)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        milliseconds = (time.perf_counter() - start) * 1e3
        self.steps += 1
        return {
            "step": self.steps,
            "ms": milliseconds,
            "loss": loss.item(),
            "grad_norm": norm.item(),
        }
