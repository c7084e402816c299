"""Step servers (README.md): programs that wait between steps, so that they can take turns."""

import json
import subprocess
import tempfile

from driver import programs


class Server:
    """One running step server. Ends with the `with` block that it is made for."""

    def __init__(self, command, extra=None):
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            command,
            env=programs.environment(extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.command, self.records = command, []
        self.about = self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()

    def answer(self):
        """The next line of JSON; other lines are passed over."""
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.errors.seek(0)
        raise RuntimeError(f"{self.command} ended\n{self.errors.read()[-2000:]}")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def step(self, command="step"):
        self.records.append(self.ask(command))
        return self.records[-1]

    def forget_peak(self):
        """Counts the peak of resident memory anew."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            peak = next(line for line in file if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024


def start(commands):
    """{name: Server} of the commands that exist, as {name: (command, environment)}. A server that
    does not start is said and left out."""
    servers = {}
    for name, (command, extra) in commands.items():
        if not command:
            continue
        programs.note(f"starting {name}")
        try:
            servers[name] = Server(command, extra)
        except (RuntimeError, OSError) as error:
            programs.note(f"{name}: {error}")
    return servers


def stop(servers):
    for server in servers.values():
        server.__exit__()


def times(server, key="ms", skip=0):
    """One a round."""
    return [record[key] for record in server.records[skip:]]


def take_turns(servers, options, between=lambda: None, command="step", steps=1):
    """Warm-up turns of each server, then rounds in which each has one; a turn is `steps` steps;
    `between` is called once a round. A server that fails is said and taken out."""

    def step_all(servers):
        for name in list(servers):
            try:
                for _ in range(steps):
                    servers[name].step(command)
            except RuntimeError as error:
                programs.note(f"{name}: {error}")
                servers.pop(name).__exit__()

    if not servers:
        return
    for _ in range(options.warmup):
        step_all(servers)
    for server in servers.values():
        server.forget_peak()
    for round_number in range(options.rounds):
        programs.note(f"round {round_number + 1} of {options.rounds}")
        between()
        step_all(servers)
