"""A step server (tests/bench/README.md) for PyTorch's DistributedDataParallel over gloo: this
process is rank 0 and starts the others, one core and --threads threads each.

Commands: step; nosync, the same step without communication.
"""

import contextlib
import os
import subprocess
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import gpt_step
from serve import serve

COMMANDS = ("quit", "step", "nosync")


def start_others(ranks):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29577", "WORLD_SIZE": str(ranks)}
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return [
        subprocess.Popen([sys.executable, *sys.argv], env=os.environ | {"RANK": str(rank)})
        for rank in range(1, ranks)
    ]


def pin(rank):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})


def agree(command=None):
    """Rank 0's command, on every rank."""
    number = torch.tensor(COMMANDS.index(command) if command else 0)
    dist.broadcast(number, 0)
    return COMMANDS[number.item()]


def run(trainer, command):
    dist.barrier()
    with trainer.forward.no_sync() if command == "nosync" else contextlib.nullcontext():
        record = trainer.step()
    mean = torch.tensor(record["loss"], dtype=torch.float64)
    dist.all_reduce(mean)
    return record | {"loss": mean.item() / dist.get_world_size()}


def lead(trainer):
    commands = {
        name: lambda name=name: run(trainer, agree(name)) for name in COMMANDS if name != "quit"
    }
    serve("torch_ddp", commands, version=torch.__version__)
    agree("quit")


def follow(trainer):
    while (command := agree()) != "quit":
        run(trainer, command)


def main():
    options = gpt_step.parse_options(__doc__)
    rank = int(os.environ.get("RANK", "0"))
    others = start_others(2) if rank == 0 else []
    pin(rank)
    torch.set_num_threads(options.threads)
    dist.init_process_group("gloo", rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
    model = gpt_step.make_model(options)
    ranks = dist.get_world_size()
    forward = DistributedDataParallel(model, gradient_as_bucket_view=True)
    trainer = gpt_step.Trainer(options, model, forward, rank, ranks)
    (lead if rank == 0 else follow)(trainer)
    dist.destroy_process_group()
    for other in others:
        other.wait()


if __name__ == "__main__":
    main()
