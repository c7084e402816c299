"""What PyTorch takes for a module whose forward returns its argument: rows as in
tests/bench/README.md."""

import json
import statistics
import time

import torch

CALLS = 1000
CHILDREN = 10
SAMPLES = 21


class Same(torch.nn.Module):
    def forward(self, x):
        return x


class OneChild(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.same = Same()

    def forward(self, x):
        for _ in range(CALLS):
            x = self.same(x)
        return x


def nanoseconds(run, calls):
    run()
    times = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) / calls * 1e9)
    return statistics.median(times)


def main():
    torch.set_num_threads(1)
    x = torch.ones(8)
    one = OneChild()
    ten = torch.nn.Sequential(*(Same() for _ in range(CHILDREN)))
    rows = [
        ("module_call", nanoseconds(lambda: one(x), CALLS)),
        ("sequential_child",
         nanoseconds(lambda: [ten(x) for _ in range(CALLS)], CALLS * CHILDREN)),
    ]
    rows = [{"name": name, "value": value, "unit": "ns"} for name, value in rows]
    print(json.dumps({"bench": "torch_calls", "rows": rows}))


if __name__ == "__main__":
    main()
