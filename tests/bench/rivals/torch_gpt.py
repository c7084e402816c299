"""A step server (tests/bench/README.md) for PyTorch in one process, eager or compiled."""

import torch

import gpt_step
from serve import serve


def main():
    options = gpt_step.parse_options(__doc__)
    torch.set_num_threads(options.threads)
    model = gpt_step.make_model(options)
    forward = torch.compile(model) if options.compile else model
    trainer = gpt_step.Trainer(options, model, forward)
    serve("torch_gpt", {"step": trainer.step}, version=torch.__version__)


if __name__ == "__main__":
    main()
