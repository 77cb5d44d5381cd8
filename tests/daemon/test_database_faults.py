# SPDX-License-Identifier: MIT
"""The database's own disk fills up, hangs, goes away or never was any good: I/O and bus go on, no sample is lost."""

import contextlib
import hashlib
import os
import sqlite3
import subprocess
import time

import pytest
from harness import MIB, PATIENCE, NbdDevice, Plateaud, scratch_path, wait_for
from needs import need_loop, need_nbd, need_service
from service_bus import LONG_JOB, MANAGER, ROOT, BusError, Service, event_kinds, rows

JOB = "[global]\nsample_interval=100ms\n" + LONG_JOB
ANSWER_S = 1


@contextlib.contextmanager
def mounted(*command: str):
    """A state directory on a file system of its own."""
    need_loop()
    place = scratch_path("mount")
    subprocess.run(["mount", *command, str(place)], check=True)
    try:
        (place / "state").mkdir(mode=0o750)
        yield place / "state"
    finally:
        if subprocess.run(["umount", str(place)], capture_output=True).returncode != 0:
            subprocess.run(["umount", "--lazy", str(place)], check=True)


def state(bus: Service) -> str:
    """DatabaseState, which must come at once whatever the database does."""
    began = time.monotonic()
    answer = bus.get(ROOT, MANAGER, "DatabaseState")
    assert time.monotonic() - began < ANSWER_S * PATIENCE
    return answer


def wait_trouble(bus: Service) -> str:
    return wait_for(lambda: (answer := state(bus)) != "ok" and answer, 20, "trouble")


def check_all_is_there(service: Plateaud, bus: Service, run: int):
    """Once the trouble is over: all samples, and both events."""
    wait_for(lambda: state(bus) == "ok", 30, "the database to be written again")
    bus.command(run, "Stop")
    bus.wait_state(run, "stopped")
    count, last = rows(service, "SELECT count(*), max(seq) FROM samples WHERE run = ?", run)[0]
    assert count == last + 1 > 10
    assert event_kinds(service, run).count("database") == 2
    assert rows(service, "PRAGMA integrity_check") == [("ok",)]


def test_full_disk_loses_no_sample(loop):
    need_service()
    tmpfs = ("-t", "tmpfs", "-o", "size=8m,mode=755", "plateau-test")
    with mounted(*tmpfs) as directory, Plateaud(state=directory) as service:
        bus = Service(service)
        (run,) = bus.start(JOB, loop())
        bus.wait_samples(run, 2)
        ballast = directory.parent / "ballast"
        with open(ballast, "wb", buffering=0) as f, contextlib.suppress(OSError):
            while True:
                f.write(bytes(4096))
        assert "No space left" in wait_trouble(bus)
        assert bus.run(run, "State") == "running"
        waiting = state(bus)
        wait_for(lambda: state(bus) != waiting, 10, "more samples to wait")
        ballast.unlink()
        check_all_is_there(service, bus, run)


def test_hung_disk_holds_up_neither_bus_nor_watchdog(loop):
    need_service()
    need_nbd()
    with NbdDevice(64 * MIB) as disk:
        subprocess.run(["mkfs.ext4", "-q", disk.path], check=True)
        with mounted(disk.path) as directory, Plateaud(state=directory, watchdog_s=1) as service:
            bus = Service(service)
            (run,) = bus.start(JOB, loop())
            bus.wait_samples(run, 2)
            disk.hang()
            try:
                assert "no answer from its disk" in wait_trouble(bus)
                assert bus.run(run, "State") == "running"
                fed = service.read_notifications().count("WATCHDOG=1")
                wait_for(lambda: service.read_notifications().count("WATCHDOG=1") > fed + 2, 10, "the watchdog")
            finally:
                disk.unhang()
            check_all_is_there(service, bus, run)


def test_removed_database_is_noticed_and_waited_for(own_service, loop):
    bus = Service(own_service)
    (run,) = bus.start(JOB, loop())
    bus.wait_samples(run, 2)
    aside = own_service.db.with_name("aside")
    os.rename(own_service.db, aside)
    assert f"{own_service.db} was removed or replaced" in wait_trouble(bus)
    with pytest.raises(BusError, match="removed or replaced"):
        bus.start(JOB, loop())
    own_service.wait_workers(1)
    os.rename(aside, own_service.db)
    check_all_is_there(own_service, bus, run)


def test_replaced_database_is_not_written_to(own_service, loop):
    bus = Service(own_service)
    (run,) = bus.start(JOB, loop())
    bus.wait_samples(run, 2)
    aside = own_service.db.with_name("aside")
    os.rename(own_service.db, aside)
    own_service.db.write_bytes(b"mine")
    wait_trouble(bus)
    assert own_service.db.read_bytes() == b"mine"
    os.rename(aside, own_service.db)
    check_all_is_there(own_service, bus, run)


def test_service_that_ends_with_a_removed_database_says_what_is_lost(own_service, loop):
    bus = Service(own_service)
    (run,) = bus.start(JOB, loop())
    bus.wait_samples(run, 2)
    own_service.db.unlink()
    wait_trouble(bus)
    assert own_service.stop() == 5
    assert "the database could not be written to the end" in own_service.log()


# --- no database to begin with --------------------------------------------------------------------------------------


def refuse(service: Plateaud) -> str:
    """It does not start, says why, and leaves what it found as it was."""
    # SQLite's index of the WAL is made anew by whoever comes first.
    kept = [path for path in service.state.iterdir() if not path.name.endswith("-shm")]
    before = {path: hashlib.sha256(path.read_bytes()).digest() for path in kept}
    done = subprocess.run([service.program, "--bus", "session", "--state-directory", service.state],
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env=service.environment)  # fmt: skip
    assert done.returncode == 5, done
    assert str(service.db) in done.stderr
    for path, digest in before.items():
        assert hashlib.sha256(path.read_bytes()).digest() == digest, path
    return done.stderr


@pytest.fixture
def recorded(make_service, loop):
    """A service that has recorded something, and stopped."""
    need_service()
    service = make_service()
    (run,) = Service(service).start(JOB, loop())
    Service(service).wait_samples(run, 3)
    assert service.stop() == 0
    return service


def test_damaged_database_is_refused_and_kept(recorded):
    with open(recorded.db, "r+b") as f:
        f.write(b"no database" * 100)
    words = refuse(recorded)
    assert "file is not a database" in words and "move it aside" in words


def test_database_with_a_damaged_page_is_refused_and_kept(recorded):
    with open(recorded.db, "r+b") as f:
        f.seek(100)
        f.write(b"\xff" * 2000)
    words = refuse(recorded)
    assert "malformed" in words and "move it aside" in words


def test_database_of_a_newer_plateau_is_refused_and_kept(recorded):
    with contextlib.closing(sqlite3.connect(recorded.db)) as database:
        database.execute("PRAGMA user_version = 1000")
    assert "needs a newer plateau" in refuse(recorded)


def test_read_only_directory_is_refused(make_service):
    need_loop()
    with mounted("-t", "tmpfs", "-o", "size=1m,mode=755", "plateau-test") as directory:
        subprocess.run(["mount", "-o", "remount,ro", str(directory.parent)], check=True)
        assert "Read-only file system" in refuse(make_service(state=directory, start=False))
