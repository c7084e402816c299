"""A step server (tests/bench/README.md) for PyTorch that trains a model of the speed table, eager
or compiled: the counterpart of bench_models."""

import argparse
import contextlib
import resource
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from serve import serve


class ConvNorm(nn.Sequential):
    def __init__(self, inside, out, kernel, stride):
        conv = nn.Conv2d(inside, out, kernel, stride, padding=kernel // 2, bias=False)
        super().__init__(conv, nn.BatchNorm2d(out))


class Block(nn.Module):
    def __init__(self, inside, out, stride):
        super().__init__()
        self.first = ConvNorm(inside, out, 3, stride)
        self.second = ConvNorm(out, out, 3, 1)
        self.past = nn.Identity() if inside == out else ConvNorm(inside, out, 1, stride)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.past(x))


def resnet18():
    layers, inside = [ConvNorm(3, 64, 3, 1), nn.ReLU()], 64
    for out in (64, 128, 256, 512):
        layers += [Block(inside, out, 1 if out == inside else 2), Block(out, out, 1)]
        inside = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class ByteLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(256, 256)
        self.lstm = nn.LSTM(256, 512, num_layers=2)
        self.head = nn.Linear(512, 256)

    def forward(self, ids):
        return self.head(self.lstm(self.embed(ids))[0])


class MiniLm(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(30522, 384), nn.Embedding(128, 384)
        self.norm = nn.LayerNorm(384)
        layer = nn.TransformerEncoderLayer(384, 12, 1536, 0.0, F.gelu, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        self.head = nn.Linear(384, 2)

    def forward(self, ids):
        x = self.norm(self.words(ids) + self.positions(torch.arange(ids.shape[1])))
        return self.head(self.encoder(x).mean(1))


def mlp():
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )


def chain():
    return nn.Sequential(*(layer for _ in range(20) for layer in (nn.Linear(64, 64), nn.ReLU())))


def cross_entropy(y, target):
    return F.cross_entropy(y.flatten(0, -2), target.flatten())


def classes(count, *shape):
    return torch.randint(count, shape)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=5e-4, fused=True)


def plain_sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-6, fused=True)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-3, fused=True)


def small_adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-4, fused=True)


def linear_layer():
    return nn.Linear(768, 768)


def convolution_layer():
    return nn.Conv2d(64, 64, 3, padding=1, bias=False)


def summed(y, _):
    return y.sum()


MODELS = {  # model, its inputs, loss of its output, optimizer
    "resnet18": (
        resnet18,
        lambda: (torch.randn(32, 3, 32, 32), classes(10, 32)),
        cross_entropy,
        sgd,
    ),
    "lstm": (ByteLstm, lambda: (classes(256, 64, 16), classes(256, 64, 16)), cross_entropy, adamw),
    "mini_lm": (MiniLm, lambda: (classes(30522, 8, 128), classes(2, 8)), cross_entropy, small_adamw),
    "linear": (
        linear_layer,
        lambda: (torch.randn(512, 768).requires_grad_(), None),
        summed,
        plain_sgd,
    ),
    "convolution": (
        convolution_layer,
        lambda: (torch.randn(32, 64, 32, 32).requires_grad_(), None),
        summed,
        plain_sgd,
    ),
    "mlp": (mlp, lambda: (torch.randn(128, 784), classes(10, 128)), cross_entropy, adamw),
    "chain": (chain, lambda: (torch.randn(8, 64), None), lambda y, _: y.sum(), plain_sgd),
}


class Trainer:
    """Steps on one random batch."""

    def __init__(self, options):
        make, data, self.loss, optimizer = MODELS[options.model]
        self.options, self.turns = options, 0
        self.model = make()
        self.x, self.target = data()
        self.optimizer = optimizer(self.model.parameters())
        self.forward = torch.compile(self.run) if options.compile else self.run

    def run(self, x, target):
        return self.loss(self.model(x), target)

    def autocast(self):
        if self.options.dtype != "bf16":
            return contextlib.nullcontext()
        return torch.autocast("cpu", dtype=torch.bfloat16)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.x.grad = None
        with self.autocast():
            loss = self.forward(self.x, self.target)
        loss.backward()
        self.optimizer.step()
        return loss

    def step(self):
        """A turn: some steps, and the mean time of one."""
        wall, cores = time.perf_counter(), cpu_seconds()
        for _ in range(self.options.steps):
            loss = self.train()
        per_step = 1e3 / self.options.steps
        wall, cores = time.perf_counter() - wall, cpu_seconds() - cores
        self.turns += 1
        return {
            "step": self.turns,
            "ms": wall * per_step,
            "cpu_ms": cores * per_step,
            "loss": loss.item(),
        }


def cpu_seconds():
    """Of all threads of the process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--dtype", choices=("f32", "bf16", "f64"), default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=1, help="steps of a turn")
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def main():
    options = parse_options()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64 if options.dtype == "f64" else torch.float32)
    serve("torch_models", {"step": Trainer(options).step}, version=torch.__version__)


if __name__ == "__main__":
    main()
