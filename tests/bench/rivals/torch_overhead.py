"""What PyTorch takes for an op that computes nothing to speak of: rows as in
tests/bench/README.md."""

import json
import statistics
import time

import torch

CHAIN = 100
SAMPLES = 21


def nanoseconds(run, calls):
    run()
    times = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) / calls * 1e9)
    return statistics.median(times)


def forward(x, y):
    for _ in range(CHAIN):
        x = x + y
    return x


def main():
    torch.set_num_threads(1)
    x, y = torch.ones(1), torch.ones(1)
    leaf = torch.ones(1, requires_grad=True)
    rows = [
        ("op_forward", nanoseconds(lambda: forward(x, y), CHAIN)),
        ("op_forward_backward", nanoseconds(lambda: forward(leaf, y).backward(), CHAIN)),
    ]
    rows = [{"name": name, "value": value, "unit": "ns"} for name, value in rows]
    print(json.dumps({"bench": "torch_overhead", "rows": rows}))


if __name__ == "__main__":
    main()
