"""Step servers (README.md): programs that wait between steps, so that they can take turns."""

import json
import subprocess
import tempfile

from driver import programs
from driver.lost import Lost


class Server:
    """One running step server. Ends with the `with` block that it is made for."""

    def __init__(self, program):
        self.records, self.warmed_up = [], 0
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = program.started(stdin=subprocess.PIPE, stderr=self.errors)
        self.about = self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.process.communicate(timeout=60)  # closes its input
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        self.errors.close()

    def answer(self):
        """The next line of JSON; other lines are passed over."""
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        code = self.process.wait()
        self.errors.seek(0)
        errors = self.errors.read()
        programs.note(errors[-2000:])
        raise programs.Ended(programs.why_ended(code, errors))

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and says why below
        return self.answer()

    def step(self):
        self.records.append(self.ask("step"))
        return self.records[-1]

    def end_warm_up(self):
        """Only steps from here on are of rounds; the peak of resident memory is counted anew."""
        self.warmed_up = len(self.records)
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def of_rounds(self):
        """What the steps behind the warm-up answered."""
        return self.records[self.warmed_up:]

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            peak = next(line for line in file if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024


class Group:
    """Servers by name that take turns, as {name: program}, for a `with` block. One that does not
    start, or fails, is taken out of `servers`, and `lost` says why."""

    def __init__(self, commands):
        self.commands, self.servers, self.lost = commands, {}, Lost()

    def __enter__(self):
        for name, program in self.commands.items():
            programs.note(f"starting {name}")
            try:
                self.servers[name] = Server(program)
            except programs.Ended as reason:
                self.lost.add(name, program, reason)
        return self

    def __exit__(self, *_):
        for server in self.servers.values():
            server.__exit__()

    def turn(self, name, steps):
        try:
            for _ in range(steps):
                self.servers[name].step()
        except programs.Ended as reason:
            self.lost.add(name, self.commands[name], reason)
            self.servers.pop(name).__exit__()

    def all_turns(self, steps):
        for name in list(self.servers):
            self.turn(name, steps)

    def take_turns(self, options, between=lambda: None, steps=1):
        """Warm-up turns of each server, then rounds in which each has one; a turn is `steps` steps;
        `between` is called once a round."""
        for _ in range(options.warmup):
            self.all_turns(steps)
        for server in self.servers.values():
            server.end_warm_up()
        for number in range(options.rounds if self.servers else 0):
            programs.note(f"round {number + 1} of {options.rounds}")
            between()
            self.all_turns(steps)

    def milliseconds(self):
        """{name: of each step of the rounds}"""
        return {name: [record["ms"] for record in server.of_rounds()]
                for name, server in self.servers.items()}
