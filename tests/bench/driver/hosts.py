"""Several hosts on one machine: network namespaces on a bridge, with links of a chosen rate.

The bridge has a namespace of its own, so nothing touches the machine's real network. Needs root.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import tempfile

from driver import programs

NAME = "tbench"
SWITCH = NAME + "sw"
SUBNET = "10.79.0"
AGENT = pathlib.Path(__file__).resolve().parent / "agent"


def ip(*words, check=True):
    subprocess.run(["ip", *words], check=check, stderr=None if check else subprocess.DEVNULL)


def why_not():
    """Why this machine cannot have such hosts; None if it can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [tool for tool in ("ip", "tc", "unshare", "mpirun") if not shutil.which(tool)]
    if missing:
        return f"no {missing[0]} here"
    probe = NAME + "probe"
    refused = subprocess.run(["ip", "netns", "add", probe], capture_output=True).returncode
    ip("netns", "del", probe, check=False)
    return "network namespaces are not allowed here" if refused else None


class Hosts:
    """`count` hosts with one core's worth of rank each. Removed at the end of the `with` block."""

    def __init__(self, count):
        self.names = [f"{NAME}{i}" for i in range(count)]
        self.folder = tempfile.TemporaryDirectory()

    def __enter__(self):
        self.remove()
        ip("netns", "add", SWITCH)
        ip("-n", SWITCH, "link", "add", "br0", "type", "bridge")
        ip("-n", SWITCH, "link", "set", "br0", "up")
        for i, host in enumerate(self.names):
            self.plug_in(i, host)
        self.hostfile = pathlib.Path(self.folder.name) / "hosts"
        self.hostfile.write_text("".join(f"{host} slots=1\n" for host in self.names))
        return self

    def __exit__(self, *_):
        self.remove()
        self.folder.cleanup()

    def plug_in(self, i, host):
        """A host with a cable to the switch, which knows all others by name."""
        ip("netns", "add", host)
        ip("-n", host, "link", "set", "lo", "up")
        ip("link", "add", "eth0", "netns", host, "type", "veth", "peer", "name", f"p{i}",
           "netns", SWITCH)
        ip("-n", SWITCH, "link", "set", f"p{i}", "master", "br0", "up")
        ip("-n", host, "addr", "add", f"{self.address(i)}/24", "dev", "eth0")
        ip("-n", host, "link", "set", "eth0", "up")
        # Linux's default for TCP, whatever this machine has been set to.
        ip("-n", host, "route", "replace", f"{SUBNET}.0/24", "dev", "eth0", "src", self.address(i),
           "congctl", "cubic")
        known = [f"{self.address(j)} {name}\n" for j, name in enumerate(self.names)]
        etc = pathlib.Path("/etc/netns") / host
        etc.mkdir(parents=True, exist_ok=True)
        (etc / "hosts").write_text("127.0.0.1 localhost\n" + "".join(known))

    def remove(self):
        for name in [*self.names, SWITCH]:
            ip("netns", "del", name, check=False)
            shutil.rmtree(pathlib.Path("/etc/netns") / name, ignore_errors=True)

    def shape(self, bits_per_second):
        """Both directions of every link."""
        limit = ["root", "tbf", "rate", f"{bits_per_second:.0f}bit", "burst", "128kb"]
        for i, host in enumerate(self.names):
            for namespace, device in ((host, "eth0"), (SWITCH, f"p{i}")):
                subprocess.run(["tc", "-n", namespace, "qdisc", "replace", "dev", device, *limit,
                                "latency", "500ms"], check=True)

    def address(self, i):
        return f"{SUBNET}.{10 + i}"

    def everywhere(self, command):
        """Runs `command`, with the host's number behind it, on all hosts at once; their outputs."""
        started = [subprocess.Popen(["ip", "netns", "exec", host, *map(str, command), str(i)],
                                    stdout=subprocess.PIPE, text=True)
                   for i, host in enumerate(self.names)]
        return [one.communicate()[0] for one in started]

    def one_rank_each(self, program):
        """The program with one rank on each host."""
        flags = ["--hostfile", str(self.hostfile), "--map-by", "ppr:1:node"]
        for key, value in {
            "plm_rsh_agent": AGENT,
            "plm_rsh_no_tree_spawn": 1,
            "oob_tcp_if_include": "eth0",
            "btl_tcp_if_include": "eth0",
            "btl": "tcp,vader,self",
            "pml": "ob1",
            "mpi_yield_when_idle": 1,
        }.items():
            flags += ["--mca", key, str(value)]
        whole = programs.under_mpi(len(self.names), program, *flags)
        named = 'hostname "$0"; exec "$@"'
        inside = ["taskset", "-c", "0", "ip", "netns", "exec", self.names[0],
                  "unshare", "--uts", "sh", "-c", named, self.names[0]]
        return dataclasses.replace(whole, command=[*inside, *whole.command])
