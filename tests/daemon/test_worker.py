# SPDX-License-Identifier: MIT
"""plateau-worker alone, as the service sees it: over its socket, on real block devices made here."""

import contextlib
import ctypes
import errno
import os
import re
import select
import signal
import socket
import struct
import subprocess
import time

import harness
import needs
import pytest

KIB, MIB = harness.KIB, harness.MIB

VERSION = int(re.search(r"MESSAGE_VERSION (\d+)", (harness.SOURCE / "lib/wire/message.h").read_text())[1])
TYPES = ("OPEN", "REPORT", "REFUSED", "GO", "STARTED", "PAUSE", "RESUME", "STOP", "PHASE", "SAMPLE", "ERRNO", "EVENT",
         "FINISHED", "END_PHASE", "HISTORY", "RECORDED", "VERIFICATION", "FINDING", "END_RUN",
         "PENDING")  # fmt: skip
OUTCOMES = ("done", "stopped", "failed", "lost")
OCCURRENCES = ("paused", "resumed", "stalled", "recovered", "read-only", "stopping")
MARKS = ("started", "done", "stopped")
SECOND = 1_000_000_000

REFUSED_USAGE, REFUSED_SAFETY, REFUSED_FAILED = 2, 3, 8


# --- the wire, as lib/wire/message.h describes it ------------------------------------------------


def string(text) -> bytes:
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<I", len(data)) + data


def packets(message: bytes, part: int = 64 * KIB):
    for at in range(0, len(message), part):
        yield bytes([at + part < len(message)]) + message[at : at + part]


class Fields:
    def __init__(self, data: bytes):
        self.data = data

    def take(self, form: str):
        values = struct.unpack_from("<" + form, self.data)
        self.data = self.data[struct.calcsize("<" + form) :]
        return values if len(values) > 1 else values[0]

    def string(self):
        n = self.take("I")
        if n == 0xFFFFFFFF:
            return None
        text, self.data = self.data[:n], self.data[n:]
        return text.decode(errors="backslashreplace")

    def strings(self):
        return [self.string() for _ in range(self.take("I"))]


def decode(data: bytes) -> dict:
    f = Fields(data[1:])
    kind = TYPES[data[0]]
    m = {"type": kind}
    if kind == "REPORT":
        m["path"], m["name"], m["disk"] = f.string(), f.string(), f.string()
        f.take("5I")
        m["model"], m["serial"], m["wwn"], m["firmware"] = (f.string() for _ in range(4))
        m["diskseq"], m["size"], m["logical"], m["physical"] = f.take("QQII")
        f.take("3B")
        f.strings_ = [f.string() for _ in range(5)]
        m["read_ahead"], m["nr_requests"], m["discard_max"], m["discard_granularity"] = f.take("IIQI")
        m["notices"], m["proof"] = f.strings(), f.string()
    elif kind == "REFUSED":
        m["why"], m["kind"], m["text"] = f.take("B"), f.take("B"), f.string()
    elif kind == "STARTED":
        m["at"] = f.take("q")
    elif kind == "PHASE":
        m["index"], mark, m["at"] = f.take("IBq")
        m["mark"] = MARKS[mark]
    elif kind == "SAMPLE":
        f.take("I")
        m["seq"], m["phase"], m["at"], m["elapsed"], m["duration"] = f.take("QIqQQ")
        pairs = [f.take("QQ") for _ in range(3)]
        m["ios"], m["bytes"] = [p[0] for p in pairs], [p[1] for p in pairs]
        m["errors"], m["in_flight"], m["oldest"] = f.take("QIQ")
        m["cpu"], m["worker_cpu"], m["ring_cpu"], m["held"], m["temperature"] = f.take("ddddd")
    elif kind == "ERRNO":
        m["errno"], m["count"], m["first_at"], m["last_at"], m["first_offset"], m["last_offset"] = f.take("IQqqQQ")
    elif kind == "EVENT":
        occurrence, m["at"], m["elapsed"] = f.take("BqQ")
        m["kind"], m["detail"] = OCCURRENCES[occurrence], f.string()
    elif kind == "PENDING":
        m["n"], m["oldest"] = f.take("IQ")
    elif kind == "FINISHED":
        m["outcome"], m["detail"] = OUTCOMES[f.take("B")], f.string()
    return m


PROGRAM = harness.BUILD / "daemon" / "plateau-worker"


def need_worker():
    if not PROGRAM.exists():
        needs.missing(f"{PROGRAM} is not built (PLATEAU_BUILD)")


# --- a worker ------------------------------------------------------------------------------------


class Worker:
    """A worker of ours, and every message it has sent so far."""

    def __init__(self, **popen):
        need_worker()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [PROGRAM, "--fd", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                **popen)  # fmt: skip
        self.messages = []
        self._parts = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        try:
            self.process.wait(20 * harness.PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stderr.close()

    @property
    def pid(self):
        return self.process.pid

    def send(self, kind: str, body: bytes = b""):
        for packet in packets(bytes([TYPES.index(kind)]) + body):
            self.socket.send(packet)

    def open(self, path, job: str, confirm=(), erase=False, version=VERSION):
        body = struct.pack("<I", version) + string(str(path)) + struct.pack("<I", len(confirm))
        body += b"".join(map(string, confirm)) + bytes([erase]) + string("job") + string(job)
        body += struct.pack("<II", 0, 0)  # nothing is denied, and it is a new run
        self.send("OPEN", body)

    def go(self, tag=0x1234567, seed=42):
        self.send("GO", struct.pack("<QQ", tag, seed))

    def receive(self, timeout: float):
        """The next message, or None if the worker is gone; AssertionError if it says nothing."""
        deadline = time.monotonic() + timeout * harness.PATIENCE
        while True:
            ready, _, _ = select.select([self.socket], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"the worker says nothing after {self.messages[-3:]}"
            data = self.socket.recv(128 * KIB)
            if not data:
                return None
            self._parts += data[1:]
            if data[0] == 0:
                break
        message, self._parts = decode(self._parts), b""
        self.messages.append(message)
        return message

    def wait(self, kind: str, timeout: float = 10, /, **fields):
        while (message := self.receive(timeout)) is not None:
            if message["type"] == kind and all(message[k] == v for k, v in fields.items()):
                return message
        raise AssertionError(f"the worker ended before {kind} {fields}: {self.messages[-3:]} {self.stderr()}")

    def until_end(self, timeout: float = 30):
        while self.receive(timeout) is not None:
            pass
        return self.process.wait(10 * harness.PATIENCE)

    def of(self, kind: str, /, **fields):
        return [m for m in self.messages if m["type"] == kind and all(m[k] == v for k, v in fields.items())]

    def stderr(self):
        self.process.wait(10 * harness.PATIENCE)
        return self.process.stderr.read()

    def start(self, device, job: str, **options):
        self.open(device.path, job, confirm=[device.confirm], **options)
        report = self.wait("REPORT", 15)
        self.go()
        self.wait("STARTED", 15)
        return report


@pytest.fixture
def worker():
    """Makes workers. Asked for after a device, so that they are gone before it is removed."""
    made = []

    def make(**popen):
        made.append(Worker(**popen))
        return made[-1]

    with contextlib.ExitStack() as stack:
        stack.callback(lambda: [w.__exit__() for w in made])
        yield make


def job(runtime=None, size=None, rw="randwrite", bs="4k", iodepth=8, extra="", interval="100ms"):
    lines = [f"[global]\nsample_interval={interval}\n[a]\nrw={rw}\nbs={bs}\niodepth={iodepth}"]
    if runtime:
        lines.append(f"time_based=1\nruntime={runtime}")
    if size:
        lines.append(f"size={size}")
    return "\n".join([*lines, extra, ""])


def assert_samples_are_whole(messages):
    """Without gaps, and the sum of durations is the running time."""
    samples = [m for m in messages if m["type"] == "SAMPLE"]
    elapsed = 0
    for seq, sample in enumerate(samples):
        assert sample["seq"] == seq
        elapsed += sample["duration"]
        assert sample["elapsed"] == elapsed
        assert sample["temperature"] != sample["temperature"]  # NaN
    return samples


# --- by hand -------------------------------------------------------------------------------------


def by_hand(*args, **popen):
    need_worker()
    return subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=30, **popen)  # fmt: skip


@pytest.mark.parametrize("args", [(), ("--fd", "0"), ("--fd", "99")])
def test_by_hand_it_says_who_starts_it(args):
    done = by_hand(*args)
    assert done.returncode == 2
    assert "plateaud" in done.stderr and "plateau start" in done.stderr


def test_another_kind_of_socket():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours, theirs:
        done = by_hand("--fd", str(theirs.fileno()), pass_fds=[theirs.fileno()])
    assert done.returncode == 2 and "no socket to plateaud" in done.stderr


@pytest.mark.parametrize("args", [("--fd", "x"), ("--fd", "-1"), ("--nonsense",), ("job.fio",)])
def test_bad_usage(args):
    done = by_hand(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("plateau-worker") or "plateau-worker:" in done.stderr


def test_help_and_version():
    assert "Usage: plateau-worker" in by_hand("--help").stdout
    assert by_hand("--version").stdout.startswith("plateau-worker ")


# --- before the go -------------------------------------------------------------------------------


def test_service_goes_before_the_order(worker):
    w = worker()
    w.socket.close()
    assert w.process.wait(10) == 1
    assert "no job came" in w.stderr()


def test_other_version(worker):
    w = worker()
    w.send("OPEN", struct.pack("<I", VERSION + 1) + b"something new")
    refused = w.wait("REFUSED")
    assert refused["kind"] == REFUSED_FAILED
    assert f"version {VERSION + 1}" in refused["text"] and "different builds" in refused["text"]
    assert w.until_end() == 0


@pytest.mark.parametrize("packet", [b"\0\xff", b"\0", b"\7x", b"\0" + bytes([TYPES.index("GO")]) + bytes(16)])
def test_nonsense_from_the_service(worker, packet):
    w = worker()
    w.socket.send(packet)
    assert w.wait("REFUSED")["kind"] == REFUSED_FAILED
    assert w.until_end() == 0


def test_bad_job_is_refused_before_the_device_is_looked_at(worker):
    w = worker()
    w.open("/nonexistent", "[a]\nbsx=4k\n")
    refused = w.wait("REFUSED")
    assert refused["kind"] == REFUSED_USAGE
    assert "job" in refused["text"] and "bsx" in refused["text"]
    assert w.until_end() == 0


def test_job_that_does_not_fit(loop, worker):
    device = loop(4 * MIB, sector=4096)
    w = worker()
    w.open(device.path, job(bs="512"), confirm=[device.confirm])
    assert w.wait("REFUSED", 15)["kind"] == REFUSED_SAFETY
    assert w.until_end() == 0
    assert device.claim_is_free()


def test_wrong_confirmation(loop, worker):
    device = loop(4 * MIB)
    before = harness.content_hash(device.file)
    w = worker()
    w.open(device.path, job(), confirm=["another"])
    refused = w.wait("REFUSED", 15)
    assert refused["kind"] == REFUSED_SAFETY
    assert device.name in refused["text"]
    assert w.until_end() == 0
    assert harness.content_hash(device.file) == before


def test_report_tells_the_device_and_writes_nothing(loop, worker):
    device = loop(8 * MIB, sector=4096)
    before = harness.content_hash(device.file)
    w = worker()
    w.open(device.path, job(iodepth=1000), confirm=[device.confirm])
    report = w.wait("REPORT", 15)
    assert (report["path"], report["size"], report["logical"]) == (device.path, 8 * MIB, 4096)
    assert any(f"depth 1000 is capped by nr_requests={report['nr_requests']}" in n for n in report["notices"])
    assert not device.claim_is_free()
    w.send("STOP")
    assert w.wait("FINISHED")["outcome"] == "stopped"
    assert w.until_end() == 0
    assert device.claim_is_free()
    assert harness.content_hash(device.file) == before


def test_device_without_nowait_is_told(zram, worker):
    device = zram()
    w = worker()
    w.open(device.path, job(), confirm=[device.confirm])
    assert any("NOWAIT" in n for n in w.wait("REPORT", 15)["notices"])


def test_quiet_where_there_is_nothing_to_say(loop, worker):
    device = loop(8 * MIB)
    with open(f"/sys/block/{device.name}/queue/nr_requests") as f:
        deepest = int(f.read())
    w = worker()
    w.open(device.path, job(iodepth=deepest), confirm=[device.confirm])
    assert w.wait("REPORT", 15)["notices"] == []


def test_service_goes_instead_of_go(loop, worker):
    device = loop(8 * MIB)
    before = harness.content_hash(device.file)
    w = worker()
    w.open(device.path, job(), confirm=[device.confirm])
    w.wait("REPORT", 15)
    w.socket.close()
    assert w.process.wait(10) == 1
    assert device.claim_is_free()
    assert harness.content_hash(device.file) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_before_the_go(loop, worker, number):
    device = loop(8 * MIB)
    w = worker()
    w.open(device.path, job(), confirm=[device.confirm])
    w.wait("REPORT", 15)
    os.kill(w.pid, number)
    assert w.until_end() == 1
    assert device.claim_is_free()


def test_erasing_is_announced_and_waits_for_the_go(loop, worker):
    needs.need_programs("mkfs.ext4")
    device = loop(16 * MIB)
    subprocess.run(["mkfs.ext4", "-q", device.path], check=True)
    before = harness.content_hash(device.file)

    w = worker()
    w.open(device.path, job(size="64k"), confirm=[device.confirm])
    assert "ext4" in w.wait("REFUSED", 15)["text"]

    w = worker()
    w.open(device.path, job(size="64k"), confirm=[device.confirm], erase=True)
    report = w.wait("REPORT", 15)
    assert any("will be erased" in n and "ext4" in n for n in report["notices"])
    assert harness.content_hash(device.file) == before
    w.go()
    assert w.wait("FINISHED")["outcome"] == "done"
    assert w.until_end() == 0
    assert subprocess.run(["blkid", "-p", device.path], capture_output=True).returncode == 2  # nothing found


# --- a run ---------------------------------------------------------------------------------------


def test_sums_are_the_kernels(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.open(device.path, job(runtime="1s", rw="randrw"), confirm=[device.confirm])
    w.wait("REPORT", 15)
    before = device.stat()
    w.go()
    assert w.until_end() == 0

    samples = assert_samples_are_whole(w.messages)
    kernel = harness.sysfs_stat_since(device.path, before)
    assert sum(s["ios"][0] for s in samples) == kernel["read_ios"]
    assert sum(s["ios"][1] for s in samples) == kernel["write_ios"]
    assert sum(s["bytes"][1] for s in samples) == kernel["write_bytes"] > 0
    assert sum(s["errors"] for s in samples) == 0
    assert w.messages[-1] == {"type": "FINISHED", "outcome": "done", "detail": ""}


def test_phases_in_order_and_no_sample_spans_them(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="350ms") + "[b]\nrw=read\nbs=64k\nsize=1m\n")
    assert w.until_end() == 0
    samples = assert_samples_are_whole(w.messages)
    phases = [(m["index"], m["mark"]) for m in w.of("PHASE")]
    assert phases == [(0, "started"), (0, "done"), (1, "started"), (1, "done")]

    # Each sample lies between the marks of its phase, and the run starts before its first phase does.
    current = None
    for m in w.messages:
        if m["type"] == "PHASE":
            current = m["index"] if m["mark"] == "started" else None
        elif m["type"] == "SAMPLE":
            assert m["phase"] == current
    assert w.of("STARTED")[0]["at"] <= w.of("PHASE")[0]["at"]
    assert sum(s["bytes"][0] for s in samples if s["phase"] == 1) == MIB
    # On the grid of 100 ms: 0.1, 0.2, 0.3 and the rest (a busy machine may merge some).
    assert samples[0]["duration"] >= SECOND // 10
    assert sum(s["duration"] for s in samples if s["phase"] == 0) >= 350 * 1_000_000


def test_late_ticks_do_not_shift_the_grid(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="2s"))
    assert w.until_end() == 0
    samples = [s for s in assert_samples_are_whole(w.messages)][:-1]
    # Each ends at a multiple of the interval, late by no more than the tick itself was: lateness does not add up.
    late = [s["elapsed"] % (SECOND // 10) for s in samples]
    assert sorted(late)[len(late) // 2] < SECOND // 20


def test_pause_and_resume(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="10s"))
    w.wait("SAMPLE")
    w.send("PAUSE")
    paused = w.wait("EVENT", kind="paused")
    at_pause = [m for m in w.messages if m["type"] == "SAMPLE"][-1]
    assert at_pause["in_flight"] == 0
    assert at_pause["elapsed"] == paused["elapsed"]
    before = device.stat()
    time.sleep(0.5)  # is what must not count
    w.send("RESUME")
    resumed = w.wait("EVENT", kind="resumed")
    assert harness.sysfs_stat_since(device.path, before)["write_ios"] < before["write_ios"] + 100000
    assert resumed["elapsed"] == paused["elapsed"]
    assert w.messages[-1] is resumed and w.messages[-2] is paused  # no samples in between
    first = w.wait("SAMPLE")
    assert first["ios"][1] > 0
    # It ends on the grid that was there before the pause.
    assert first["duration"] <= SECOND // 10 - at_pause["elapsed"] % (SECOND // 10) + SECOND // 20
    w.send("STOP")
    assert w.wait("FINISHED")["outcome"] == "stopped"
    assert w.until_end() == 0
    assert_samples_are_whole(w.messages)


def test_paused_device_gets_no_io(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="10s"))
    w.wait("SAMPLE")
    w.send("PAUSE")
    w.send("PAUSE")
    w.wait("EVENT", kind="paused")
    before = device.stat()
    time.sleep(0.3)
    assert device.stat() == before
    w.send("STOP")
    assert w.until_end() == 0
    assert len(w.of("EVENT", kind="paused")) == 1
    assert w.messages[-1]["outcome"] == "stopped"


def test_resume_at_once(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="10s"))
    w.wait("SAMPLE")
    for _ in range(20):
        w.send("PAUSE")
        w.send("RESUME")
    w.wait("EVENT", kind="resumed")
    while w.wait("SAMPLE")["ios"][1] == 0:
        pass
    w.send("STOP")
    assert w.until_end() == 0
    assert_samples_are_whole(w.messages)
    kinds = [m["kind"] for m in w.of("EVENT")][:-1]
    assert kinds == ["paused", "resumed"] * (len(kinds) // 2)


def test_stop(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="60s") + "[b]\nrw=read\n")
    w.wait("SAMPLE")
    w.send("STOP")
    w.send("STOP")
    stopping = w.wait("EVENT", kind="stopping")
    assert stopping["detail"].endswith(("pending"))
    assert w.until_end() == 0
    assert len(w.of("EVENT", kind="stopping")) == 1
    assert [(m["index"], m["mark"]) for m in w.of("PHASE")] == [(0, "started"), (0, "stopped")]
    assert w.messages[-1]["outcome"] == "stopped"
    assert_samples_are_whole(w.messages)


def test_device_is_free_when_it_says_finished(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="200ms"))
    w.wait("FINISHED")
    assert device.claim_is_free()


def test_sigterm_is_a_stop(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="60s"))
    w.wait("SAMPLE")
    os.kill(w.pid, signal.SIGTERM)
    w.wait("EVENT", kind="stopping")
    assert w.wait("FINISHED")["outcome"] == "stopped"
    assert w.until_end() == 0


def test_service_gone_ends_it_within_a_second(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="60s", interval="1s"))
    w.wait("SAMPLE")
    w.socket.close()
    gone = time.monotonic()
    assert w.process.wait(10) == 1
    assert time.monotonic() - gone < 1 * harness.PATIENCE
    assert device.claim_is_free()
    assert "did not take all that was to be said" in w.stderr()


def test_all_samples_come_though_the_service_reads_late(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="3s", rw="randrw"))
    # More than the socket holds is said while nothing is read here.
    harness.wait_for(device.claim_is_free, 15, "the job's end")
    assert w.until_end() == 0
    samples = assert_samples_are_whole(w.messages)
    assert samples[-1]["elapsed"] >= 3 * SECOND
    assert w.messages[-1]["outcome"] == "done"


# --- faults --------------------------------------------------------------------------------------


def test_hung_device(nbd, worker):
    device = nbd(64 * MIB)
    w = worker()
    w.start(device, job(runtime="60s", interval="1s"))
    w.wait("SAMPLE")
    device.hang()
    stalled = w.wait("EVENT", 15, kind="stalled")
    assert "pending for" in stalled["detail"]
    zeros = [s for s in w.of("SAMPLE") if sum(s["ios"]) == 0]
    assert len(zeros) >= 4
    assert zeros[-1]["in_flight"] == 8 and zeros[-1]["oldest"] > 4 * SECOND

    # A stop is answered at once, and zero rows go on until the drive has answered.
    w.send("STOP")
    stopping = w.wait("EVENT", 2, kind="stopping")
    assert stopping["detail"] == "8 I/Os are pending"
    assert sum(w.wait("SAMPLE")["ios"]) == 0
    assert not device.claim_is_free()
    device.unhang()
    assert w.wait("FINISHED", 15)["outcome"] == "stopped"
    assert w.until_end() == 0
    assert len(w.of("EVENT", kind="recovered")) == 1
    assert len(w.of("EVENT", kind="stalled")) == 1
    assert_samples_are_whole(w.messages)


def test_errors_are_told_once_a_sample(nbd, worker):
    device = nbd(64 * MIB)
    w = worker()
    w.start(device, job(runtime="60s", interval="200ms"))
    w.wait("SAMPLE")
    device.fail()
    error = w.wait("ERRNO")
    assert error["errno"] == errno.EIO
    while w.wait("ERRNO")["count"] == error["count"]:
        pass
    device.fail(False)
    while (sample := w.wait("SAMPLE"))["errors"] > 0 or sample["ios"][1] == 0:
        pass
    w.send("STOP")
    assert w.until_end() == 0
    samples = assert_samples_are_whole(w.messages)
    errors = w.of("ERRNO")
    assert errors[-1]["count"] == sum(s["errors"] for s in samples)
    assert len(errors) <= len([s for s in samples if s["errors"]]) + 1
    assert errors[-1]["first_offset"] < 64 * MIB and errors[-1]["first_at"] <= errors[-1]["last_at"]
    assert w.messages[-1]["outcome"] == "stopped"


def set_read_only(device, on):
    subprocess.run(["blockdev", "--setro" if on else "--setrw", device.path], check=True)


def test_device_becomes_read_only(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="60s"))
    w.wait("SAMPLE")
    set_read_only(device, True)
    assert "read-only" in w.wait("EVENT", kind="read-only")["detail"]
    for _ in range(3):
        assert w.wait("SAMPLE")["errors"] > 0
    w.send("STOP")
    assert w.until_end() == 0
    set_read_only(device, False)
    assert len(w.of("EVENT", kind="read-only")) == 1
    assert [m["errno"] for m in w.of("ERRNO")][:1] == [errno.EPERM]
    samples = assert_samples_are_whole(w.messages)
    assert sum(s["errors"] for s in samples) == w.of("ERRNO")[-1]["count"]


def test_a_writing_phase_does_not_begin_on_a_read_only_device(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="1s", rw="randread") + "[b]\nrw=write\n")
    w.wait("SAMPLE")
    set_read_only(device, True)
    finished = w.wait("FINISHED")
    set_read_only(device, False)
    assert finished["outcome"] == "failed" and "read-only" in finished["detail"]
    assert [(m["index"], m["mark"]) for m in w.of("PHASE")] == [(0, "started"), (0, "done")]
    assert w.until_end() == 0


@pytest.mark.parametrize("size", [0, 16 * MIB])
def test_lost_device(loop, worker, size):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="60s"))
    w.wait("SAMPLE")
    os.truncate(device.file, size)
    subprocess.run(["losetup", "--set-capacity", device.path], check=True)
    finished = w.wait("FINISHED", 15)
    assert finished["outcome"] == "lost" and device.path in finished["detail"]
    assert w.of("PHASE")[-1]["mark"] == "stopped"
    assert w.until_end() == 0
    assert_samples_are_whole(w.messages)


def test_lost_though_nothing_fails(loop, worker):
    """A read of nothing fails nothing, so it is the look at each second that finds it."""
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="1s", rw="randread", extra="size=1m") + "[b]\nrw=write\n")
    w.wait("SAMPLE")
    subprocess.run(["truncate", "-s", "16M", device.file], check=True)
    subprocess.run(["losetup", "--set-capacity", device.path], check=True)
    assert w.wait("FINISHED", 15)["outcome"] == "lost"
    assert [(m["index"], m["mark"]) for m in w.of("PHASE")] == [(0, "started"), (0, "stopped")]
    assert w.until_end() == 0


# --- privileges ----------------------------------------------------------------------------------


def test_all_privileges_are_gone(loop, worker):
    device = loop(32 * MIB)
    w = worker()
    w.start(device, job(runtime="60s"))
    w.wait("SAMPLE")
    threads = harness.process_threads(w.pid)
    assert len(threads) >= 2
    for tid in threads:
        status = harness.process_status(w.pid, tid)
        for ids in ("Uid", "Gid"):
            assert "0" not in status[ids].split()
        assert status["Groups"].strip() == ""
        for caps in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[caps], 16) == 0, (tid, caps)
        assert status["NoNewPrivs"] == "1"
        assert status["Seccomp"] == "2"
    assert "0 " in open(f"/proc/{w.pid}/limits").read().split("Max core file size")[1].split("\n")[0]
    # Not dumpable: what belongs to it in /proc is root's.
    assert os.stat(f"/proc/{w.pid}/mem").st_uid == 0


SYS_SETGROUPS, SYS_IO_URING_SETUP = 116, 425  # x86_64


def deny(number: int):
    """For preexec_fn: from now on this system call fails with EPERM, as some containers have it."""
    if os.uname().machine != "x86_64":
        pytest.skip("knows the system calls of x86_64 only")
    libc = ctypes.CDLL(None, use_errno=True)
    program = b"".join(struct.pack("=HBBI", *i) for i in (
        (0x20, 0, 0, 0),                       # load the number
        (0x15, 0, 1, number),                  # this one?
        (0x06, 0, 0, 0x50000 | errno.EPERM),   # SECCOMP_RET_ERRNO
        (0x06, 0, 0, 0x7FFF0000),              # SECCOMP_RET_ALLOW
    ))  # fmt: skip
    buffer = ctypes.create_string_buffer(program, len(program))
    filter_ = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer)))

    def install(_keep=buffer):
        assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
        assert libc.prctl(22, 2, filter_, 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER

    return install


@pytest.mark.parametrize("number, words", [(SYS_IO_URING_SETUP, "io_uring"), (SYS_SETGROUPS, "give up privileges")])
def test_what_a_container_denies_is_said_and_nothing_written(loop, worker, number, words):
    device = loop(8 * MIB)
    before = harness.content_hash(device.file)
    w = worker(preexec_fn=deny(number))
    w.open(device.path, job(), confirm=[device.confirm])
    w.wait("REPORT", 15)
    w.go()
    finished = w.wait("FINISHED", 15)
    assert finished["outcome"] == "failed" and words in finished["detail"]
    assert w.of("STARTED") == []
    assert w.until_end() == 0
    assert device.claim_is_free()
    assert harness.content_hash(device.file) == before
