# SPDX-License-Identifier: MIT
"""The service as any D-Bus client sees it: busctl, with its answers in JSON."""

import contextlib
import json
import sqlite3
import subprocess
import threading

from harness import PATIENCE, Device, Plateaud, wait_for

NAME = "org.plateau.Plateau1"
ROOT = "/org/plateau/Plateau1"
MANAGER = f"{NAME}.Manager"
RUN = f"{NAME}.Run"
NOBODY = 65534

LONG_JOB = "[global]\nbs=4k\niodepth=8\n[w]\nrw=randwrite\ntime_based\nruntime=600\n"


def short_job(seconds: float = 1) -> str:
    return f"[global]\nbs=4k\niodepth=8\n[w]\nrw=randwrite\ntime_based\nruntime={int(seconds * 1000)}ms\n"


class BusError(Exception):
    """`Call failed: …` of busctl; the name of the error is not among what it prints."""


class Service:
    """The bus interface of a Plateaud."""

    def __init__(self, plateaud: Plateaud, user: int | None = None):
        self.plateaud = plateaud
        self._prefix = [] if user is None else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]

    def busctl(self, *args: str, timeout: float = 60) -> subprocess.CompletedProcess:
        command = [*self._prefix, "busctl", "--user", "--json=short", "--timeout=90", *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout * PATIENCE,
                              stdin=subprocess.DEVNULL, env=self.plateaud.environment)  # fmt: skip

    def call(self, path: str, interface: str, method: str, *args, timeout: float = 60):
        """The results of a method, a list; BusError with the service's words."""
        done = self.busctl("call", NAME, path, interface, method, *args, timeout=timeout)
        if done.returncode != 0:
            raise BusError(done.stderr.strip())
        return json.loads(done.stdout)["data"] if done.stdout.strip() else []

    def error_name(self, path: str, interface: str, method: str, *args) -> str:
        """The last part of the name of the error that a call ends with, seen by a client that prints names."""
        address = self.plateaud.bus.address
        command = [*self._prefix, "dbus-send", f"--bus={address}", "--print-reply", "--reply-timeout=90000",
                   f"--dest={NAME}", path, f"{interface}.{method}", *args]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * PATIENCE)
        assert done.returncode != 0, done.stdout
        return done.stderr.split(":")[0].split()[1].rpartition(".")[2]

    def get(self, path: str, interface: str, property: str):
        done = self.busctl("get-property", NAME, path, interface, property)
        if done.returncode != 0:
            raise BusError(done.stderr.strip())
        return json.loads(done.stdout)["data"]

    def start(self, job: str, *devices: Device | str, confirm=None, name="job", options=(), timeout=60) -> list[int]:
        paths = [device if isinstance(device, str) else device.path for device in devices]
        if confirm is None:
            confirm = [device.confirm for device in devices if not isinstance(device, str)]
        flat = [part for option in options for part in option]
        (runs,) = self.call(ROOT, MANAGER, "StartRuns", "ssasasa{sv}", "--", name, job, len(paths), *paths,
                            len(confirm), *confirm, len(options), *flat, timeout=timeout)  # fmt: skip
        return runs

    def run(self, run: int, property: str):
        return self.get(f"{ROOT}/run/{run}", RUN, property)

    def command(self, run: int, method: str):
        return self.call(f"{ROOT}/run/{run}", RUN, method)

    def wait_state(self, run: int, *states: str, timeout: float = 20) -> str:
        return wait_for(lambda: (state := self.run(run, "State")) in states and state, timeout,
                        f"run {run} {' or '.join(states)}")  # fmt: skip

    def wait_samples(self, run: int, n: int, timeout: float = 20):
        wait_for(lambda: rows(self.plateaud, "SELECT count(*) FROM samples WHERE run = ?", run)[0][0] >= n, timeout,
                 f"{n} samples of run {run}")  # fmt: skip


def rows(plateaud: Plateaud, query: str, *parameters) -> list[tuple]:
    """What a reader of the database sees now."""
    with contextlib.closing(sqlite3.connect(f"file:{plateaud.db}?mode=ro", uri=True)) as database:
        return database.execute(query, parameters).fetchall()


def state_in_database(plateaud: Plateaud, run: int) -> str:
    return rows(plateaud, "SELECT state FROM runs WHERE run = ?", run)[0][0]


def events(plateaud: Plateaud, run: int) -> list[tuple[str, str]]:
    return rows(plateaud, "SELECT kind, detail FROM events WHERE run = ? ORDER BY event", run)


def event_kinds(plateaud: Plateaud, run: int) -> list[str]:
    return [kind for kind, _ in events(plateaud, run)]


class Monitor:
    """Signals of the service as they come: handler(member, path, payload) in a thread, and a list of them."""

    def __init__(self, plateaud: Plateaud, handler=None):
        self.seen: list[tuple[str, str, list]] = []
        self._handler = handler
        self._process = subprocess.Popen(
            ["busctl", "--user", "--json=short", "monitor", NAME], env=plateaud.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        assert "Monitoring" in self._process.stderr.readline()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._thread.join()
        self._process.stdout.close()
        self._process.stderr.close()

    def _read(self):
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("type") != "signal":
                continue
            signal = (message["member"], message["path"], message["payload"]["data"])
            if self._handler:
                self._handler(*signal)
            self.seen.append(signal)

    def changes(self, run: int, property: str) -> list:
        return [data[1][property]["data"] for member, path, data in list(self.seen)
                if member == "PropertiesChanged" and path == f"{ROOT}/run/{run}" and property in data[1]]  # fmt: skip

    def events(self, run: int) -> list[str]:
        return [data[0] for member, path, data in list(self.seen)
                if member == "Event" and path == f"{ROOT}/run/{run}"]  # fmt: skip
