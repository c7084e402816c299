"""A step over slow links: 4 hosts as network namespaces, one rank a host, the rate chosen so that
compute alone and communication alone are within 25 % of each other."""

import functools
import pathlib
import sys

from driver import hosts, inputs, programs, server
from driver.figures import Figure, median, paired, ratio, versus
from driver.lost import Lost

HOSTS = 4
SOCKETS = pathlib.Path(__file__).resolve().parents[2] / "roofs" / "sockets.py"
MODEL = dict(layers=16, heads=3, width=192, vocab=512, positions=256, context=256, batch=64,
             checkpoint_activations=True)
COMPUTE, COMMUNICATION = "compute alone", "communication alone"
KINDS = {"step": "real", COMPUTE: "none", COMMUNICATION: "only"}
# Gradients travel while backward runs, which is three quarters of a step that computes activations
# anew: the links get a rate at which communication alone takes this share of compute alone.
SHARE = 0.80
LEAST_SHARE = 0.75  # of the larger part, of a row that can be compared
ATTEMPTS = 3  # at a rate that gives it
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


def commands(network, untied):
    """{part: a step server of it}"""
    arguments = MODEL | dict(threads=1, data=inputs.tokens(MODEL["vocab"]))
    if untied:
        arguments["untied"] = True
    return {
        name: network.one_rank_each(
            programs.ours("bench_gpt", *inputs.flags(arguments | dict(comm=comm))))
        for name, comm in KINDS.items()
    }


def medians(servers, warmup, turns=5):
    """Milliseconds of a step of each, after some to warm up."""
    times = {name: [] for name in servers}
    for _ in range(warmup + turns):
        for name, one in servers.items():
            times[name].append(one.step()["ms"])
    return {name: median(found[warmup:]) for name, found in times.items()}


def better(rate, seen):
    """The rate at which communication, which took as `seen` says, takes SHARE of compute."""
    return rate * seen[COMMUNICATION] / (SHARE * seen[COMPUTE])


def first_rate(network, servers, untied):
    """Bits/s, from both parts measured in turns at a rate that is about right."""
    guess = medians({COMPUTE: servers[COMPUTE]}, warmup=2, turns=1)
    rate = 8e3 * least_bytes(untied) / (SHARE * guess[COMPUTE])
    network.shape(rate)
    # While TCP learns the links' rate.
    medians({COMMUNICATION: servers[COMMUNICATION]}, warmup=8)
    return better(rate, medians(servers, warmup=1))


def balance(seen):
    """The smaller of the two parts by the larger, of medians."""
    parts = seen[COMPUTE], seen[COMMUNICATION]
    return min(parts) / max(parts)


def sockets_alone(network, untied):
    """Milliseconds in which plain sockets move the same bytes, every host sending to all others."""
    each = round(least_bytes(untied) / (HOSTS - 1))
    addresses = [network.address(i) for i in range(HOSTS)]
    said = network.everywhere([sys.executable, SOCKETS, each, *addresses])
    return 1e3 * max(map(float, said))


def rounds(network, group, untied, options):
    """Milliseconds of each round by part, with plain sockets in turn."""
    sockets = []
    group.take_turns(options, lambda: sockets.append(sockets_alone(network, untied)))
    return group.milliseconds() | {"plain sockets": sockets}


def measure(network, untied, options):
    """(milliseconds of each round by part, and the rate; what was lost). Where the machine has
    become faster or slower since the rate was chosen, it is chosen again."""
    with server.Group(commands(network, untied)) as group:
        if group.lost.failed:
            return {}, group.lost
        rate = first_rate(network, group.servers, untied)
        for _ in range(ATTEMPTS):
            network.shape(rate)
            found = rounds(network, group, untied, options) | {"rate": rate}
            if group.lost.failed:
                return {}, group.lost
            seen = {name: median(found[name]) for name in KINDS}
            if balance(seen) >= LEAST_SHARE:
                break
            programs.note(f"the parts are {balance(seen):.2f} of each other: another rate")
            rate = better(rate, seen)
        return found, group.lost


def parts_of(found):
    """The medians, and whether they can be compared."""
    if not found:
        return ""
    seen = {name: median(found[name]) for name in KINDS}
    share = balance(seen)
    verdict = "" if share >= LEAST_SHARE else ": not comparable"
    texts = [f"{name} {ms:.0f} ms" for name, ms in seen.items()]
    return f"{', '.join(texts)}; the smaller part is {share:.0%} of the larger{verdict}"


def figures_of(kind, found, lost):
    step, compute, communication = (found.get(name) for name in KINDS)
    yield Figure(f"step over {HOSTS} slow links, {kind}: by its larger part",
                 paired(lambda whole, a, b: whole / max(a, b), step, compute, communication),
                 *BARS[kind][0], "x", parts_of(found), lost)
    alone, sockets = median(communication), median(found.get("plain sockets"))
    least = 8e3 * least_bytes(kind == "untied") / found["rate"] if found else None
    detail = versus(alone, least, "ms") + (f"; plain sockets {sockets:.0f} ms" if sockets else "")
    yield Figure(f"communication alone there, {kind}: by bytes / rate", ratio(alone, least),
                 *BARS[kind][1], "x", detail, lost)


def run(kind, options):
    reason = hosts.why_not()
    if reason:
        lost = Lost(absent={"network namespaces": reason})
        return list(figures_of(kind, {}, lost)), {}
    with hosts.Hosts(HOSTS) as network:
        found, lost = measure(network, kind == "untied", options)
    return list(figures_of(kind, found, lost)), found


PARTS = {kind: functools.partial(run, kind) for kind in BARS}
