"""A step over slow links: 4 hosts as network namespaces, one rank a host, the rate chosen so that
compute alone and communication alone are within 25 % of each other."""

import pathlib
import statistics
import sys

from driver import hosts, inputs, programs, server
from driver.figures import Figure, median, paired, ratio, versus

HOSTS = 4
SOCKETS = pathlib.Path(__file__).resolve().parents[2] / "roofs" / "sockets.py"
MODEL = dict(layers=16, heads=3, width=192, vocab=512, positions=256, context=256, batch=64,
             checkpoint_activations=True)
KINDS = {"step": "real", "compute alone": "none", "communication alone": "only"}
# Gradients travel while backward runs, which is three quarters of a step that computes activations
# anew: the links get a rate at which communication alone takes this share of compute alone.
SHARE = 0.80
BARS = {  # (whole step by the larger part, communication alone by the links' least time)
    "untied": ((1.15, 1.05), (1.15, 1.05)),
    "tied": ((1.15, 1.15), (1.15, 1.05)),
}


def gradient_bytes(untied):
    """f32, every parameter once."""
    width = MODEL["width"]
    block = 12 * width * width + 13 * width
    tables = MODEL["vocab"] * (2 if untied else 1) + MODEL["positions"] + 2
    return 4 * (MODEL["layers"] * block + tables * width)


def least_bytes(untied):
    """What each host must send to sum the gradients of all."""
    return 2 * (HOSTS - 1) / HOSTS * gradient_bytes(untied)


def start(network, untied):
    arguments = MODEL | dict(threads=1, data=inputs.tokens(MODEL["vocab"]))
    if untied:
        arguments["untied"] = True
    commands = {}
    for name, comm in KINDS.items():
        program = inputs.ours(*inputs.flags(arguments | dict(comm=comm)))
        commands[name] = (network.command(program), None)
    return server.start(commands)


def medians(servers, warmup, turns=5):
    """Seconds of a step of each, after some to warm up."""
    times = {name: [] for name in servers}
    for _ in range(warmup + turns):
        for name, one in servers.items():
            times[name].append(one.step()["ms"] * 1e-3)
    return {name: statistics.median(found[warmup:]) for name, found in times.items()}


def balance(network, servers, untied):
    """Shapes the links so that both parts, measured in turns, take about as long; returns bits/s."""
    compute = "compute alone"
    guess = medians({compute: servers[compute]}, warmup=2, turns=1)
    rate = 8 * least_bytes(untied) / (SHARE * guess[compute])
    network.shape(rate)
    communication = "communication alone"
    medians({communication: servers[communication]}, warmup=8)  # while TCP learns the links' rate
    seen = medians(servers, warmup=1)
    rate *= seen[communication] / (SHARE * seen[compute])
    network.shape(rate)
    return rate


def sockets_alone(network, untied):
    """Seconds in which plain sockets move the same bytes, every host sending to all others."""
    each = round(least_bytes(untied) / (HOSTS - 1))
    addresses = [network.address(i) for i in range(HOSTS)]
    return max(map(float, network.everywhere([sys.executable, SOCKETS, each, *addresses])))


def measure(network, kind, options):
    """Milliseconds of each round by part, and the rate."""
    servers = start(network, kind == "untied")
    try:
        if servers.keys() != KINDS.keys():
            return {}
        rate = balance(network, servers, kind == "untied")
        for one in servers.values():
            one.records.clear()
        server.take_turns(servers, options)
        sockets = [sockets_alone(network, kind == "untied") for _ in range(options.rounds)]
        return {n: server.times(s, skip=options.warmup) for n, s in servers.items()} | {
            "rate": rate, "plain sockets": [1e3 * seconds for seconds in sockets]}
    finally:
        server.stop(servers)


def figures_of(kind, found):
    step, compute, communication = (found.get(name) for name in KINDS)
    least = 8e3 * least_bytes(kind == "untied") / found["rate"] if step else None
    parts = ", ".join(f"{name} {median(found[name]):.0f} ms" for name in KINDS if name in found)
    yield Figure(f"step over {HOSTS} slow links, {kind}: by its larger part",
                 paired(lambda whole, a, b: whole / max(a, b), step, compute, communication),
                 *BARS[kind][0], "x", parts)
    alone = median(communication)
    sockets = f"; plain sockets {median(found['plain sockets']):.0f} ms" if step else ""
    yield Figure(f"communication alone there, {kind}: by bytes / rate", ratio(alone, least),
                 *BARS[kind][1], "x", versus(alone, least, "ms") + sockets)


def run(options):
    reason = hosts.why_not() or (None if programs.bench("bench_gpt") else "no bench_gpt")
    if reason:
        programs.note(f"links: {reason}")
        return [figure for kind in BARS for figure in figures_of(kind, {})], {"absent": reason}
    record = {}
    for kind in BARS:
        with hosts.Hosts(HOSTS) as network:
            record[kind] = measure(network, kind, options)
    return [figure for kind in BARS for figure in figures_of(kind, record[kind])], record
