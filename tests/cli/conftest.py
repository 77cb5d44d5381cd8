# SPDX-License-Identifier: MIT
"""Databases of any shape, made through the store by make-db."""

import contextlib
import subprocess

import harness
import needs
import pytest

SECOND = 10**9


class Script:
    """Lines for make-db; see make-db.c."""

    def __init__(self):
        self.lines = []

    def add(self, *fields):
        self.lines.append("\t".join(map(str, fields)))
        return self

    def run(self, name="job", label="", model="ModelX", serial="S1", phases=("write",)):
        return self.add("run", name, label, model, serial, *phases)

    def state(self, state):
        return self.add("state", state)

    def phase(self, index, state):
        return self.add("phase", index, state)

    def samples(self, n, phase=0, duration_ns=SECOND, writes=100, reads=0, errors=0, latency_ns=50000):
        return self.add("samples", n, phase, duration_ns, writes, reads, errors, latency_ns)

    def size(self, size_bytes):
        return self.add("size", size_bytes)

    def expect(self, *lines):
        return self.add("expect", *lines)

    def noisy(self, n, writes, percent=5, phase=0):
        return self.add("noisy", n, phase, writes, percent)

    def job(self, *lines):
        return self.add("job", *lines)

    def cpu(self, percent, *own):
        """Of the host; and of the worker and its busiest ring thread."""
        return self.add("cpu", percent, *own)

    def held(self, percent):
        """For so much of the time the job itself holds I/O back."""
        return self.add("held", percent)

    def temperature(self, celsius):
        return self.add("temperature", celsius)

    def event(self, kind, detail=""):
        return self.add("event", kind, detail)

    def errno(self, number, count):
        return self.add("errno", number, count)

    def verified(self, size, corrupt=0, misplaced=0, torn=0, lost=0, phase=0):
        """What came of reading all of the phase back."""
        return self.add("verified", phase, size, corrupt, misplaced, torn, lost)

    def bytes(self):
        return "".join(line + "\n" for line in self.lines).encode(errors="surrogateescape")


class Database:
    def __init__(self, path):
        self.path = path
        self.cli = harness.Cli(db=path)
        self.program = harness.BUILD / "tests" / "cli" / "make-db"

    def write(self, script):
        subprocess.run([self.program, self.path], input=script.bytes(), stdout=subprocess.DEVNULL, check=True)
        return self.cli

    @contextlib.contextmanager
    def living(self, script):
        """The same, with the service's lock held; yields a function that writes more, which is committed by and by."""
        maker = subprocess.Popen([self.program, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def more(lines):
            maker.stdin.write(lines.bytes())
            maker.stdin.flush()

        try:
            more(script.add("hold"))
            assert maker.stdout.readline() == b"ready\n"
            yield more
        finally:
            maker.stdin.close()
            maker.stdout.close()
            maker.wait()


@pytest.fixture
def database(tmp_path):
    needs.need_build()
    return Database(tmp_path / "test.db")


@pytest.fixture
def script():
    return Script


@pytest.fixture
def job(tmp_path):
    """Writes a job file: job(text)."""

    def make(text, name="job.fio"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return make


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 2 MB."""
    needs.need_root()
    path = tmp_path / "small"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)
