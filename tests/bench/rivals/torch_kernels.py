"""PyTorch's own kernels at the shapes of bench_kernels: rows as in tests/bench/README.md, with the
same bytes or FLOPs of a call."""

import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F

SAMPLES = 15
SAMPLE_SECONDS = 0.03


def layer_norm():
    rows, columns = 32768, 768
    x, w = torch.rand(rows, columns), torch.rand(columns)
    return 8 * rows * columns, lambda: F.layer_norm(x, (columns,), w, w)


def softmax():
    rows, columns = 32768, 1024
    x = torch.rand(rows, columns)
    return 8 * rows * columns, lambda: torch.softmax(x, -1)


def adamw():
    count = 124_439_808
    parameter = torch.nn.Parameter(torch.rand(count))
    parameter.grad = torch.rand(count)
    return 28 * count, torch.optim.AdamW([parameter], fused=True).step


def cross_entropy():
    """Forward and backward."""
    rows, columns = 512, 50257
    x = torch.rand(rows, columns, requires_grad=True)
    targets = torch.full((rows,), 17)
    return 12 * rows * columns, lambda: torch.autograd.grad(F.cross_entropy(x, targets), x)


def attention(length, dtype):
    """Causal, forward and backward: 7 products over half of the square."""
    batch, heads, dim = 1024 // length, 12, 64
    q, k, v, dout = (torch.rand(batch, length, heads, dim, dtype=dtype).transpose(1, 2)
                     for _ in range(4))
    for x in (q, k, v):
        x.requires_grad_()

    def call():
        with torch.enable_grad():
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        torch.autograd.grad(out, (q, k, v), dout)

    return 7 * batch * heads * length * length * dim, call


def variants(name):
    """(labels, unit, what makes the kernel) of each row."""
    if name != "attention":
        return [({}, "GB/s", globals()[name])]
    dtypes = {"f32": torch.float32, "bf16": torch.bfloat16}
    return [({"length": length, "dtype": text}, "GFLOP/s", lambda n=length, d=dtype: attention(n, d))
            for text, dtype in dtypes.items() for length in (256, 1024)]


def seconds_of(call, calls=1):
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def sample(call):
    """Seconds of a call, as bench_kernels takes them: not of the first."""
    return seconds_of(call, 1 + int(SAMPLE_SECONDS / seconds_of(call)))


def measure(name, threads):
    for labels, unit, make in variants(name):
        work, call = make()
        value = work / statistics.median(sample(call) for _ in range(SAMPLES)) / 1e9
        yield labels | {"name": name, "threads": threads, "value": value, "unit": unit}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    names = ("layer_norm", "softmax", "adamw", "cross_entropy", "attention")
    parser.add_argument("names", nargs="+", choices=names)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = [row for name in options.names for row in measure(name, options.threads)]
    print(json.dumps({"bench": "torch_kernels", "rows": rows}))


if __name__ == "__main__":
    main()
