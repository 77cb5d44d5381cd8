# SPDX-License-Identifier: MIT
"""What the tests of plateau share: scratch block devices, a private bus, the real service and its command.

Everything made here is a context manager that removes what it made, whatever happens in between. A scratch
device lies on a file that this process has just created, and proves that before anybody may write to it.
The build to test is PLATEAU_BUILD; scratch files go to a directory in memory.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PLATEAU_BUILD", SOURCE / "build-test")).resolve()

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

# A sanitizer build, or a machine that somebody else is using, may be this much slower than a test expects.
PATIENCE = float(os.environ.get("PLATEAU_TEST_PATIENCE", "3"))

SECTOR = 512  # the unit of /sys/block/*/stat and /sys/block/*/size, whatever the device's own is


# --- waiting -----------------------------------------------------------------------------------


def wait_for(predicate, timeout: float = 10, what: str = "", interval: float = 0.02):
    """Returns the first true value of predicate(); AssertionError if there is none within timeout seconds."""
    deadline = time.monotonic() + timeout * PATIENCE
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {timeout * PATIENCE:g} s: {what or getattr(predicate, '__name__', '')}")
        time.sleep(interval)


# --- scratch -----------------------------------------------------------------------------------

_scratch: Path | None = None


def scratch_directory() -> Path:
    """This process's own directory in memory; removed when it ends."""
    global _scratch
    if _scratch is None:
        parent = os.environ.get("PLATEAU_SCRATCH") or ("/dev/shm" if os.path.isdir("/dev/shm") else None)
        _scratch = Path(tempfile.mkdtemp(prefix="plateau-test-", dir=parent))
        _scratch.chmod(0o755)  # callers of other users reach the bus in here
        atexit.register(shutil.rmtree, _scratch, ignore_errors=True)
    return _scratch


def scratch_path(name: str) -> Path:
    """A new directory for `name`, so that nothing in it was there before."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch_directory()))


# --- block devices -----------------------------------------------------------------------------

STAT_FIELDS = (
    "reads", "reads_merged", "sectors_read", "ms_reading",
    "writes", "writes_merged", "sectors_written", "ms_writing",
    "in_flight", "ms_busy", "ms_weighted",
    "discards", "discards_merged", "sectors_discarded", "ms_discarding",
    "flushes", "ms_flushing",
)  # fmt: skip


def sysfs_stat(device: str | Path) -> dict[str, int]:
    """The kernel's own counters of a whole block device, with read_bytes, write_bytes, read_ios and write_ios
    (completed + merged: what was asked of it, however the block layer cut or joined it)."""
    name = os.path.basename(str(device))
    values = Path(f"/sys/block/{name}/stat").read_text().split()
    result = dict(zip(STAT_FIELDS, map(int, values)))
    result["read_bytes"] = result["sectors_read"] * SECTOR
    result["write_bytes"] = result["sectors_written"] * SECTOR
    result["read_ios"] = result["reads"] + result["reads_merged"]
    result["write_ios"] = result["writes"] + result["writes_merged"]
    return result


def sysfs_stat_since(device: str | Path, before: dict[str, int]) -> dict[str, int]:
    return {key: value - before[key] for key, value in sysfs_stat(device).items()}


def content_hash(path: str | Path) -> str:
    """Of all bytes of a file or block device."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(4 * MIB):
            digest.update(block)
    return digest.hexdigest()


class Scratch:
    """Something that has to be removed, also when the process ends with it still there."""

    def __init__(self):
        self._undo = contextlib.ExitStack()
        atexit.register(self.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        atexit.unregister(self.close)
        self._undo.close()


class Device(Scratch):
    """A block device of ours: .path to use, .file the bytes behind it (None if there is no such file)."""

    path: str
    file: Path | None = None
    size: int

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def confirm(self) -> str:
        """What --confirm must say: scratch devices have no serial number."""
        return self.name

    def stat(self) -> dict[str, int]:
        return sysfs_stat(self.path)

    def holders(self) -> list[int]:
        """Processes that have it open."""
        rdev = os.stat(self.path).st_rdev
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                for fd in os.listdir(f"/proc/{pid}/fd"):
                    with contextlib.suppress(OSError):
                        status = os.stat(f"/proc/{pid}/fd/{fd}")
                        if stat.S_ISBLK(status.st_mode) and status.st_rdev == rdev:
                            found.append(int(pid))
        return sorted(set(found))

    def release(self):
        """Lets go of whatever holds its I/O back, so that what is pending can end."""

    def claim_is_free(self) -> bool:
        """Whether an exclusive open would succeed: the kernel's word for `in use by nobody`."""
        try:
            os.close(os.open(self.path, os.O_RDONLY | os.O_EXCL))
        except OSError:
            return False
        return True


def _attach_loop(file: Path, sector: int, *options: str) -> str:
    command = ["losetup", "--find", "--show", "--sector-size", str(sector), *options]
    # Another process may take the same free number between the look and the attach.
    for attempt in range(10):
        done = subprocess.run([*command, str(file)], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip()
        time.sleep(0.05 * (attempt + 1))
    raise RuntimeError(f"losetup: {done.stderr.strip()}")


def _loop_backing(path: str) -> str:
    return Path(f"/sys/block/{os.path.basename(path)}/loop/backing_file").read_text().strip()


def _detach_loop(path: str, file: Path):
    """Detaches path if it is still ours, and waits until the kernel has let it go."""

    def gone():
        try:
            if _loop_backing(path) != str(file):
                return True
        except OSError:
            return True
        subprocess.run(["losetup", "--detach", path], capture_output=True)
        return False

    wait_for(gone, 20, f"{path} detached from {file}", interval=0.05)


class LoopDevice(Device):
    """A loop device of `size` bytes on a new file in memory."""

    def __init__(self, size: int = 64 * MIB, sector: int = 512, partscan: bool = False, directory: Path | None = None):
        super().__init__()
        self.size = size
        self.sector = sector
        own = directory or scratch_path("loop")
        if directory is None:
            self._undo.callback(shutil.rmtree, own, ignore_errors=True)
        self.file = own / "disk"
        with open(self.file, "xb") as f:
            f.truncate(size)
        self._undo.callback(lambda: self.file.unlink(missing_ok=True))
        try:
            self.path = _attach_loop(self.file, sector, *(["--partscan"] if partscan else []))
            self._undo.callback(_detach_loop, self.path, self.file)
            if _loop_backing(self.path) != str(self.file):
                raise RuntimeError(f"{self.path} is not the loop device on {self.file}")
        except BaseException:
            self.close()
            raise


class _ServedDevice(Device):
    """A drive whose I/O a process of ours does: nbdkit, nbdfuse and a loop device on top."""

    def __init__(self, size: int, sector: int, *loop_options: str):
        super().__init__()
        self.size = size
        self._own = scratch_path("nbd")
        self._undo.callback(shutil.rmtree, self._own, ignore_errors=True)
        self.file = self._own / "disk"
        self.file.touch()
        self._pid_file = self._own / "nbdkit.pid"
        try:
            self._serve(*self._backend())
            self.path = _attach_loop(self.file, sector, *loop_options)
            self._undo.callback(_detach_loop, self.path, self.file)
            # Last in, first out: nothing above can finish while the backend is stopped.
            self._undo.callback(self.release)
            if _loop_backing(self.path) != str(self.file):
                raise RuntimeError(f"{self.path} is not the loop device on {self.file}")
        except BaseException:
            self.close()
            raise

    def _backend(self) -> tuple[list[str], list[str]]:
        """nbdfuse's options, and where it finds nbdkit."""
        raise NotImplementedError

    def _popen(self, *command: str) -> subprocess.Popen:
        with open(self._own / "nbdkit.log", "a") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def _serve(self, options: list[str], source: list[str]):
        self._nbdfuse = self._popen("nbdfuse", *options, str(self.file), *source)
        self._undo.callback(self._unmount)
        wait_for(lambda: self._nbdfuse.poll() is not None or self.file.stat().st_size == self.size, 10, "nbdfuse")
        if self._nbdfuse.poll() is not None:
            raise RuntimeError("nbdfuse: " + (self._own / "nbdkit.log").read_text())
        self._nbdkit = int(wait_for(lambda: self._pid_file.exists() and self._pid_file.read_text().strip(), 5))

    def _unmount(self):
        if self._nbdfuse.poll() is None:
            subprocess.run(["fusermount3", "-u", str(self.file)], capture_output=True)
        try:
            self._nbdfuse.wait(10)
        except subprocess.TimeoutExpired:
            self._nbdfuse.kill()  # nbdkit goes with its parent
            self._nbdfuse.wait()
            subprocess.run(["umount", "--lazy", str(self.file)], capture_output=True)

    def release(self):
        self.unhang()

    def hang(self):
        """From now on no I/O completes."""
        os.kill(self._nbdkit, signal.SIGSTOP)
        wait_for(lambda: process_state(self._nbdkit) == "T", 5, "backend stopped")

    def unhang(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._nbdkit, signal.SIGCONT)

    def kill9(self):
        """Kills it: from now on all I/O fails."""
        os.kill(self._nbdkit, signal.SIGKILL)
        wait_for(lambda: is_gone(self._nbdkit), 5, "backend killed")


class NbdDevice(_ServedDevice):
    """A drive in memory that can be slowed, made to fail, and hung. About 7000 IOPS when nothing holds it back."""

    def __init__(self, size: int = 512 * MIB, error_rate: str = "100%", error: str = "EIO", sector: int = 512):
        self._error, self._error_rate = error, error_rate
        super().__init__(size, sector)

    def _backend(self):
        self._rate = self._own / "rate"
        self._trigger = self._own / "trigger"
        self._rate.touch()
        # One connection: the rate is that of each.
        return [], ["[", "nbdkit", "--exit-with-parent", f"--pidfile={self._pid_file}",
                    "memory", str(self.size), "--filter=error", f"error-pwrite={self._error}",
                    f"error-pwrite-rate={self._error_rate}", f"error-pwrite-file={self._trigger}",
                    "--filter=rate", "rate=1000M", f"rate-file={self._rate}", "burstiness=1", "]"]  # fmt: skip

    def release(self):
        self.unhang()
        self.fail(False)
        self.set_rate("")

    def set_rate(self, rate: str):
        """Bits a second as nbdkit reads them ("8M" is 256 IOPS of 4 KiB); "" is full speed again."""
        self._rate.write_text(f"{rate or '1000M'}\n")

    def fail(self, on: bool = True):
        """From now on writes fail, as often as error_rate says."""
        if on:
            self._trigger.touch()
        else:
            self._trigger.unlink(missing_ok=True)


class SsdSim(_ServedDevice):
    """The simulated flash drive (docs/ssdsim.md), with its parameters as keywords: SsdSim(64 * MIB, iops=1000,
    over_provisioning=25). It does up to 10000 IOPS, and up to ten requests at a time."""

    PLUGIN = BUILD / "tests" / "ssdsim" / "ssdsim.so"

    def __init__(self, size: int, **parameters):
        self._parameters = parameters
        super().__init__(size, 4096, "--direct-io=on")

    def _backend(self):
        self._log = self._own / "truth"
        socket = self._own / "socket"
        named = {"size": self.size, "log": self._log, **self._parameters}
        nbdkit = self._popen("nbdkit", "--foreground", f"--unix={socket}", f"--pidfile={self._pid_file}",
                             str(self.PLUGIN), *(f"{k.replace('_', '-')}={v}" for k, v in named.items()))  # fmt: skip
        self._undo.callback(self._end, nbdkit)
        wait_for(lambda: nbdkit.poll() is not None or self._pid_file.exists(), 10, "nbdkit")
        # A connection has about one request on its way, and FUSE never more than ten.
        return ["-C", "16"], [f"nbd+unix:///?socket={socket}"]

    @staticmethod
    def _end(nbdkit: subprocess.Popen):
        nbdkit.send_signal(signal.SIGCONT)
        nbdkit.terminate()
        nbdkit.wait(10 * PATIENCE)

    def truth(self) -> dict[str, tuple[float, int]]:
        """What it has come to ("collecting", "cache-full", "throttled"): when (wall clock in s, the first time), and
        after how many pages that the host wrote."""
        found = {}
        for line in self._log.read_text().splitlines():
            at, pages, what = line.split()
            found.setdefault(what, (float(at), int(pages)))
        return found


class ZramDevice(Device):
    """A compressed disk in memory: a new one where the kernel makes them, else the first, which is shared by lock."""

    CONTROL = Path("/sys/class/zram-control")

    def __init__(self, size: int = 256 * MIB, algorithm: str | None = None):
        super().__init__()
        self.size = size
        try:
            self._take()
            sysfs = Path(f"/sys/block/{self.name}")
            if int((sysfs / "disksize").read_text()) != 0:
                raise RuntimeError(f"{self.path} is in use")
            self._undo.callback(self._reset, sysfs)
            if algorithm:
                (sysfs / "comp_algorithm").write_text(algorithm)
            (sysfs / "disksize").write_text(str(size))
        except BaseException:
            self.close()
            raise

    def _take(self):
        try:
            number = int((self.CONTROL / "hot_add").read_text())
            self._undo.callback(self._hot_remove, number)
        except OSError:
            number = 0
            lock = open(Path(tempfile.gettempdir()) / "zram.lock", "w")
            self._undo.callback(lock.close)
            fcntl.flock(lock, fcntl.LOCK_EX)
        self.path = f"/dev/zram{number}"
        wait_for(lambda: os.path.exists(self.path), 5, self.path)

    def _hot_remove(self, number: int):
        (self.CONTROL / "hot_remove").write_text(str(number))

    @staticmethod
    def _reset(sysfs: Path):
        def reset():
            try:
                (sysfs / "reset").write_text("1")
            except OSError:
                return False
            return True

        wait_for(reset, 10, f"{sysfs} reset", interval=0.1)

    def mm_stat(self) -> dict[str, int]:
        """orig_data_size, compr_data_size, mem_used_total ... in bytes, as the kernel counts them."""
        names = ("orig_data_size", "compr_data_size", "mem_used_total", "mem_limit", "mem_used_max",
                 "same_pages", "pages_compacted", "huge_pages", "huge_pages_since")  # fmt: skip
        return dict(zip(names, map(int, Path(f"/sys/block/{self.name}/mm_stat").read_text().split())))


# --- processes ---------------------------------------------------------------------------------


def process_state(pid: int) -> str:
    """One letter of /proc/PID/stat ("T" stopped, "Z" zombie), or "" if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def process_status(pid: int, tid: int | None = None) -> dict[str, str]:
    """/proc/PID/status, or that of one of its threads."""
    path = f"/proc/{pid}/status" if tid is None else f"/proc/{pid}/task/{tid}/status"
    fields = (line.partition(":") for line in Path(path).read_text().splitlines())
    return {key: value.strip() for key, _, value in fields}


def process_threads(pid: int) -> list[int]:
    return sorted(map(int, os.listdir(f"/proc/{pid}/task")))


def is_gone(pid: int) -> bool:
    return process_state(pid) in ("", "Z", "X")


def children(pid: int, command: str) -> list[int]:
    """Living children of pid whose command name is `command`, oldest first."""
    found = []
    for other in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError):
            text = Path(f"/proc/{other}/stat").read_text()
            name = text[text.index("(") + 1 : text.rindex(")")]
            fields = text.rpartition(")")[2].split()
            if name == command[:15] and int(fields[1]) == pid and fields[0] not in "ZX":
                found.append((int(fields[19]), int(other)))
    return [other for _, other in sorted(found)]


# --- bus, service, command ---------------------------------------------------------------------

BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
"""


class PrivateBus(Scratch):
    """A message bus that only this test knows; open to every user, so that permissions can be tested."""

    def __init__(self):
        super().__init__()
        own = scratch_path("bus")
        self._undo.callback(shutil.rmtree, own, ignore_errors=True)
        own.chmod(0o755)
        self.address = f"unix:path={own}/socket"
        config = own / "bus.conf"
        config.write_text(BUS_CONFIG.format(socket=own / "socket"))
        log = self._undo.enter_context(open(own / "log", "w"))
        try:
            self._process = subprocess.Popen(
                ["dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile", "--nosyslog",
                 "--print-address=1"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True)  # fmt: skip
            self._undo.callback(self._end)
            if not self._process.stdout.readline():
                raise RuntimeError("dbus-daemon did not start: " + (own / "log").read_text())
        except BaseException:
            self.close()
            raise

    def _end(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


class Result:
    """What a command did."""

    def __init__(self, args, rc: int, out: str, err: str):
        self.args, self.rc, self.out, self.err = args, rc, out, err

    @property
    def json(self):
        """The one JSON document on its output; json-c's NaN and Infinity are no JSON."""
        return json.loads(self.out, parse_constant=_refuse_constant)

    def __repr__(self):
        return f"{' '.join(map(str, self.args))} -> {self.rc}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def _refuse_constant(name: str):
    raise ValueError(f"{name} in JSON")


class Cli:
    """Runs the real plateau: cli("list", "--json"). check: True wants exit status 0, a number that one, False any."""

    def __init__(self, bus: PrivateBus | None = None, db: Path | None = None, **environment: str):
        self.program = BUILD / "cli" / "plateau"
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PLATEAU_")}
        self.environment.update(TZ="Europe/Berlin", LC_ALL="C.UTF-8", COLUMNS="80", PLATEAU_BUS="session")
        # Without a bus of ours no bus at all: a test must never reach the machine's own service.
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address if bus else "unix:path=/nonexistent"
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = self.environment["DBUS_SESSION_BUS_ADDRESS"]
        if db:
            self.environment["PLATEAU_DB"] = str(db)
        self.environment.update(environment)

    @functools.cached_property
    def program_for_all(self) -> str:  # the tree may lie where other users may not look
        folder = scratch_path("program")
        folder.chmod(0o755)
        return shutil.copy(self.program, folder)

    def __call__(self, *args, check: bool | int = True, input: str | bytes | None = None, timeout: float = 60,
                 env: dict[str, str] | None = None, **options) -> Result:  # fmt: skip
        command = [str(self.program_for_all if "user" in options else self.program), *map(str, args)]
        done = subprocess.run(
            command, input=input.encode() if isinstance(input, str) else input,
            stdin=subprocess.DEVNULL if input is None else None,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**self.environment, **(env or {})}, timeout=timeout * PATIENCE, **options)  # fmt: skip
        result = Result(command, done.returncode, done.stdout.decode(errors="surrogateescape"),
                        done.stderr.decode(errors="surrogateescape"))  # fmt: skip
        if check is not False:
            assert result.rc == (0 if check is True else check), result
        return result

    def json(self, *args, **options):
        """The document that the verb prints with --json."""
        return self(*args, "--json", **options).json

    def popen(self, *args, **options) -> subprocess.Popen:
        standard = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return subprocess.Popen([str(self.program), *map(str, args)], env=self.environment, **standard | options)


class Plateaud(Scratch):
    """The real service on a private bus with a scratch state directory. Start it, stop it, kill it, start it again."""

    def __init__(self, bus: PrivateBus | None = None, state: Path | None = None, watchdog_s: float | None = None,
                 start: bool = True, **environment: str):  # fmt: skip
        super().__init__()
        self.program = BUILD / "daemon" / "plateaud"
        self._own = scratch_path("service")
        self._undo.callback(shutil.rmtree, self._own, ignore_errors=True)
        self._own.chmod(0o755)
        self.bus = bus or self._undo.enter_context(PrivateBus())
        self.state = state or self._own / "state"
        self.db = self.state / "plateau.db"
        self.cli = Cli(self.bus, self.db)
        self.notifications: list[str] = []
        self.process: subprocess.Popen | None = None
        self._workers: set[int] = set()
        self._log = self._own / "plateaud.log"
        self._listen()
        self.environment = {**self.cli.environment, "NOTIFY_SOCKET": str(self._own / "notify"), **environment}
        if watchdog_s is not None:
            self.environment["WATCHDOG_USEC"] = str(int(watchdog_s * 1e6))
        self._undo.callback(self._end)
        _services.append(self)
        if start:
            try:
                self.start()
            except BaseException:
                self.close()
                raise

    def close(self):
        super().close()
        with contextlib.suppress(ValueError):
            _services.remove(self)

    def start(self, ready: bool = True, *args: str):
        """Starts it, and waits for READY=1 unless told otherwise."""
        assert self.process is None, "it runs already"
        self.notifications.clear()
        with open(self._log, "a") as log:
            self.process = subprocess.Popen(
                [str(self.program), "--bus", "session", "--state-directory", str(self.state), *args],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)  # fmt: skip
        if ready:
            self.wait_notification("READY=1")
        return self

    @property
    def pid(self) -> int:
        assert self.process is not None, "it does not run"
        return self.process.pid

    def _listen(self):
        """Plays the service manager: what it is told must be taken at once, or whoever tells it blocks."""
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        notify.bind(str(self._own / "notify"))

        def read():
            while datagram := notify.recv(64 * KIB):
                self.notifications.extend(datagram.decode().splitlines())
            notify.close()

        def end():
            notify.shutdown(socket.SHUT_RD)
            reader.join()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        self._undo.callback(end)

    def read_notifications(self) -> list[str]:
        """All that it has told the service manager so far, one assignment an entry."""
        mark = f"mark={time.monotonic_ns()}"  # comes after all that was told before
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as teller:
            teller.sendto(mark.encode(), str(self._own / "notify"))
        wait_for(lambda: mark in self.notifications, 5, interval=0.001)
        self.notifications.remove(mark)
        return self.notifications

    def wait_notification(self, start: str, timeout: float = 15) -> str:
        def seen():
            found = [line for line in self.read_notifications() if line.startswith(start)]
            if not found and self.process is not None and self.process.poll() is not None:
                raise AssertionError(f"plateaud ended with {self.process.returncode} before {start}:\n{self.log()}")
            return found

        return wait_for(seen, timeout, f"{start} of plateaud")[0]

    def workers(self) -> list[int]:
        """Its living worker processes, oldest first."""
        found = children(self.pid, "plateau-worker")
        self._workers.update(found)
        return found

    def wait_workers(self, n: int, timeout: float = 10) -> list[int]:
        return wait_for(lambda: len(found := self.workers()) == n and (found or True), timeout, f"{n} workers")

    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def stop(self, timeout: float = 30) -> int:
        """SIGTERM, as systemd would; returns its exit status (negative: the signal that ended it)."""
        process, self.process = self.process, None
        self._workers.update(children(process.pid, "plateau-worker"))
        process.terminate()
        try:
            return process.wait(timeout * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"plateaud did not stop within {timeout * PATIENCE:g} s") from None

    def kill9(self) -> list[int]:
        """Kills it as the kernel's memory killer would; returns the workers it leaves behind."""
        process, self.process = self.process, None
        orphans = children(process.pid, "plateau-worker")
        self._workers.update(orphans)
        process.kill()
        process.wait()
        return orphans

    def restart(self):
        self.stop()
        return self.start()

    def _end(self):
        if self.process is not None:
            self._workers.update(children(self.process.pid, "plateau-worker"))
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        for pid in self._workers:
            self._end_worker(pid)

    @staticmethod
    def _end_worker(pid: int):
        # A number may belong to another process by now; a worker of ours is known by its executable.
        try:
            if os.readlink(f"/proc/{pid}/exe") != str(BUILD / "daemon" / "plateau-worker"):
                return
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGKILL)
        except OSError:
            return
        with contextlib.suppress(AssertionError):  # hangs in the kernel until its device answers
            wait_for(lambda: is_gone(pid), 3)

    # What most tests of a run begin with.

    def start_run(self, job: str, *devices: Device, name: str = "job", options: tuple = (), check: bool | int = True):
        """Starts job (its text) on the devices; returns the runs' numbers, one for each device, or the Result
        if another exit status than 0 was asked for."""
        path = scratch_path("job") / f"{name}.fio"
        path.write_text(job)
        args = ["start", path]
        for device in devices:
            args += ["--device", device.path, "--confirm", device.confirm]
        result = self.cli(*args, *options, "--json", check=check)
        if check is not True:
            return result
        return result.json.get("runs") or [result.json["run"]]

    def row(self, run: int) -> dict:
        return self.cli.json("show", run)

    def wait_state(self, run: int, *states: str, timeout: float = 30) -> dict:
        """Waits until the database shows run in one of the states; returns its `show` document."""
        seen = {}

        def reached():
            seen.update(self.row(run))
            return seen["state"] in states

        wait_for(reached, timeout, f"run {run} {' or '.join(states)}", interval=0.1)
        return seen

    def wait_event(self, run: int, kind: str, n: int = 1, timeout: float = 30) -> dict:
        """Waits until there are n events of that kind; returns the n-th."""

        def there():
            found = [event for event in self.row(run)["events"] if event["kind"] == kind]
            return len(found) >= n and found[n - 1]

        return wait_for(there, timeout, f"{kind} of run {run}", interval=0.1)

    def run_job(self, job: str, device: Device, timeout: float = 60, **options) -> dict:
        """Runs job to its end; returns its `show` document."""
        (run,) = self.start_run(job, device, **options)
        document = self.wait_state(run, "done", "stopped", "failed", "lost", "interrupted", timeout=timeout)
        assert document["state"] == "done", document
        self.wait_workers(0)
        return document

    def samples(self, run: int) -> list[dict]:
        return self.cli.json("samples", run)["samples"]

    def wait_samples(self, run: int, n: int, timeout: float = 30) -> list[dict]:
        seen = []

        def enough():
            seen[:] = self.samples(run)
            return len(seen) >= n

        wait_for(enough, timeout, f"{n} samples of run {run}", interval=0.1)
        return seen


_services: list[Plateaud] = []


def end_runs():
    """Stops what is still running in any service of ours, so that its devices can go."""
    for service in _services:
        if service.process is None or service.process.poll() is not None:
            continue
        for run in service.cli.json("list")["runs"]:
            if run["state"] in ("queued", "running", "paused", "interrupted"):
                service.cli("stop", run["run"], check=False)
        service.wait_workers(0)


def service_logs() -> list[tuple[str, str]]:
    """(name, log) of every service that a test has up or has just used, for the report of a failure."""
    return [(str(service.program), service.log()) for service in _services]
