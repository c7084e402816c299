"""All-reduce of f32 sums by gloo, over the loopback interface: rows as in tests/bench/README.md."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import torch
import torch.distributed as dist

SAMPLES = 7


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bytes", type=int, nargs="+", required=True)
    return parser.parse_args()


def start_others(ranks):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29578", "WORLD_SIZE": str(ranks)}
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return [
        subprocess.Popen([sys.executable, *sys.argv], env=os.environ | {"RANK": str(rank)})
        for rank in range(1, ranks)
    ]


def sample(buffer, repeats):
    """Seconds for one all-reduce, from a common start."""
    dist.barrier()
    start = time.perf_counter()
    for _ in range(repeats):
        dist.all_reduce(buffer)
    return (time.perf_counter() - start) / repeats


def measure(size, ranks):
    buffer = torch.zeros(max(size // 4, 1), dtype=torch.float32)
    repeats = max(1, min(50, (4 << 20) // size))
    sample(buffer, 1)
    seconds = statistics.median(sample(buffer, repeats) for _ in range(SAMPLES))
    labels = {"name": "all_reduce", "backend": "gloo", "ranks": ranks, "bytes": size}
    return labels | {"value": seconds, "unit": "s"}


def main():
    options = parse_options()
    rank = int(os.environ.get("RANK", "0"))
    others = start_others(options.ranks) if rank == 0 else []
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=options.ranks)
    rows = [measure(size, options.ranks) for size in options.bytes]
    if rank == 0:
        print(json.dumps({"bench": "gloo_allreduce", "rows": rows}), flush=True)
    dist.destroy_process_group()
    for other in others:
        other.wait()


if __name__ == "__main__":
    main()
