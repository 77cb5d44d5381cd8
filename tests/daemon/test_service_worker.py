# SPDX-License-Identifier: MIT
"""What the service makes of workers that end badly or say what cannot be. The worker is a fake one that touches no
device, beside a copy of plateaud, which looks for it there first."""

import shutil
import sys
from pathlib import Path

import harness
import needs
import pytest
from harness import is_gone, scratch_path, wait_for
from service_bus import LONG_JOB, MANAGER, ROOT, BusError, Service, event_kinds, events, rows, state_in_database

FAKE = Path(__file__).with_name("fake-worker")


@pytest.fixture
def start(make_service):
    """start(what) starts a run whose worker does `what`: (service, bus, run)."""
    needs.need_root()

    def start(what: str):
        service = make_service(start=False, FAKE_WORKER=what)
        own = scratch_path("fake")
        service.program = Path(shutil.copy(harness.BUILD / "daemon" / "plateaud", own / "plateaud"))
        worker = own / "plateau-worker"
        # Without env(1) in between the process keeps the script's name, by which workers are found.
        worker.write_text(f"#!{sys.executable}\n" + FAKE.read_text().partition("\n")[2])
        worker.chmod(0o755)
        service.start()
        bus = Service(service)
        (run,) = bus.start(LONG_JOB, "/dev/fake")
        return service, bus, run

    return start


def ended(service, bus, run):
    state = bus.wait_state(run, "done", "failed", "lost", "interrupted")
    assert state_in_database(service, run) == state
    wait_for(lambda: service.workers() == [])
    assert bus.get(ROOT, MANAGER, "NRunning") == 0
    return state


@pytest.mark.parametrize(
    ("what", "message"),
    (
        ("exit-at-open", "exit status 3"),
        ("killed-at-open", "killed by signal 11"),
        ("garbage-at-open", "sent nonsense"),
        ("sample-at-open", "sent nonsense"),
        ("no-size", "sent nonsense"),
        ("odd-block", "sent nonsense"),
        ("huge-size", "sent nonsense"),
        ("refused", "%s\ufffd"),
    ),
)
def test_bad_beginning_starts_nothing(start, what, message):
    with pytest.raises(BusError, match=message):
        start(what)
    service = harness._services[-1]
    assert rows(service, "SELECT count(*) FROM runs")[0][0] == 0
    wait_for(lambda: service.workers() == [])
    assert "\x1b" not in service.log()


@pytest.mark.parametrize(
    "what",
    ("seq-again", "seq-skips", "time-goes-back", "time-is-not-the-sum", "counts-too-large", "other-phase",
     "phase-again", "phase-unknown", "ends-other-phase", "sample-between-phases", "started-again",
     "report-again", "resumed-unpaused", "many-events", "garbage", "talks-after-the-end", "unknown-type"),
)  # fmt: skip
def test_nonsense_fails_the_run(start, what):
    service, bus, run = start(what)
    state = ended(service, bus, run)
    if what == "talks-after-the-end":
        assert state == "done"  # it had said so, and in order
    else:
        assert state == "failed"
        assert events(service, run)[-1] == ("finished", "failed: the worker was killed: it sent nonsense")
    assert rows(service, "SELECT count(*) FROM samples WHERE run = ?", run)[0][0] == 1
    assert len(events(service, run)) < 100


@pytest.mark.parametrize(
    ("what", "state", "event"),
    (
        ("exit-3", "failed", ("finished", "failed: the worker ended without a word, with exit status 3")),
        ("exit-0", "failed", ("finished", "failed: the worker ended without a word, with exit status 0")),
        ("lost", "lost", ("lost", "lost: gone")),
        ("failed", "failed", ("finished", "failed: why")),
        ("done-then-crash", "done", ("finished", "done")),
    ),
)
def test_ends(start, what, state, event):
    service, bus, run = start(what)
    assert ended(service, bus, run) == state
    assert events(service, run)[-1] == event
    phases = rows(service, "SELECT state FROM phases WHERE run = ?", run)
    assert phases == [("done" if what == "done-then-crash" else "stopped",)]


def test_worker_that_closes_its_socket_and_stays_is_killed(start):
    service, bus, run = start("closes-and-stays")
    (worker,) = service.workers()
    assert ended(service, bus, run) == "failed"
    assert is_gone(worker)


def test_each_errno_is_one_event_and_one_row(start):
    service, bus, run = start("errors")
    ended(service, bus, run)
    assert event_kinds(service, run).count("error") == 2
    assert rows(service, "SELECT errno, count FROM errors WHERE run = ? ORDER BY errno", run) == [(5, 9), (28, 1)]


def test_hostile_drive_is_escaped_everywhere(start):
    service, bus, run = start("hostile-drive")
    bus.wait_state(run, "running")
    assert bus.run(run, "Model") == "\ufffdM\x1b[31m"
    assert bus.run(run, "Serial") == "S\n%n"
    assert "\x1b" not in service.log()
    assert "on /dev/\\x1B[31m is running" in service.log()
