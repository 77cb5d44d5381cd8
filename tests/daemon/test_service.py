# SPDX-License-Identifier: MIT
"""plateaud as a service: how it begins, what it tells its manager, how it ends, and what its end leaves."""

import contextlib
import os
import re
import signal
import socket
import sqlite3
import subprocess
import time

import pytest
from harness import PATIENCE, PrivateBus, is_gone, scratch_path, sysfs_stat_since, wait_for
from service_bus import (
    LONG_JOB, MANAGER, ROOT, BusError, Service, event_kinds, events, rows, short_job, state_in_database,
)  # fmt: skip

DEADLINE_OF_STOP_S = 20  # 8 s for workers and 10 s for the database, at the very worst


def run_plateaud(service, *args, env=None):
    return subprocess.run([service.program, *args], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, env={**service.environment, **(env or {})})  # fmt: skip


# --- beginning -------------------------------------------------------------------------------------


def test_ready_means_on_the_bus(own_service):
    assert Service(own_service).get(ROOT, MANAGER, "DatabaseState") == "ok"


def test_state_directory_is_made_for_us_and_our_group(own_service):
    assert own_service.state.stat().st_mode & 0o7777 == 0o750
    assert own_service.db.stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("mode", (0o757, 0o770))
def test_state_directory_that_others_may_write_is_refused(make_service, mode):
    service = make_service(start=False)
    service.state.mkdir()
    service.state.chmod(mode)
    done = run_plateaud(service, "--bus", "session", "--state-directory", str(service.state))
    assert done.returncode == 3
    assert "others may write" in done.stderr
    assert list(service.state.iterdir()) == []


def test_state_directory_may_come_from_systemd(make_service):
    service = make_service(start=False)
    state = scratch_path("systemd") / "state"
    state.mkdir()
    state.chmod(0o770)  # so that it ends
    done = run_plateaud(service, env={"STATE_DIRECTORY": str(state)})
    assert done.returncode == 3
    assert str(state) in done.stderr


def test_without_a_bus_it_says_so_and_leaves_nothing(make_service):
    service = make_service(start=False)
    done = run_plateaud(service, "--state-directory", str(service.state),
                        env={"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"})  # fmt: skip
    assert done.returncode == 5
    assert "session bus cannot be reached" in done.stderr
    assert not service.state.exists()


def test_two_on_one_directory_are_refused(own_service):
    with PrivateBus() as bus:
        done = run_plateaud(own_service, "--bus", "session", "--state-directory", str(own_service.state),
                            env={"DBUS_SESSION_BUS_ADDRESS": bus.address})  # fmt: skip
    assert done.returncode == 8
    assert "another plateaud" in done.stderr
    assert Service(own_service).get(ROOT, MANAGER, "Version")


def test_two_on_one_bus_are_refused(own_service):
    done = run_plateaud(own_service, "--bus", "session", "--state-directory", str(scratch_path("second")))
    assert done.returncode == 8
    assert "another plateaud is on this bus" in done.stderr


@pytest.mark.parametrize("args", (["--bus", "other"], ["--nonsense"], ["more"], ["--state-directory"]))
def test_wrong_usage(make_service, args):
    done = run_plateaud(make_service(start=False), *args)
    assert done.returncode == 2
    assert done.stderr
    assert not done.stdout


def test_help_and_version(make_service):
    service = make_service(start=False)
    done = run_plateaud(service, "--help")
    assert done.returncode == 0
    for option in ("--bus", "--state-directory", "--help", "--version"):
        assert option in done.stdout
    assert re.fullmatch(r"plateaud \d+\.\d+\.\d+\n", run_plateaud(service, "--version").stdout)


# --- what the service manager hears ------------------------------------------------------------------


def test_status_tells_runs_and_speed(own_service, loop):
    own_service.wait_notification("STATUS=no runs")
    bus = Service(own_service)
    bus.start(LONG_JOB, loop(), loop())
    own_service.wait_notification("STATUS=2 runs, ")
    speed = re.compile(r"STATUS=2 runs, [\d.]+[kM] IOPS")
    wait_for(lambda: [line for line in own_service.read_notifications() if speed.fullmatch(line)])


def test_status_is_told_once_a_second_at_most(own_service, loop):
    bus = Service(own_service)
    (run,) = bus.start("[global]\nsample_interval=100ms\n" + LONG_JOB, loop())
    own_service.wait_notification("STATUS=1 run")
    began, before = time.monotonic(), len(own_service.read_notifications())
    bus.wait_samples(run, 30)
    told = len([s for s in own_service.read_notifications()[before:] if s.startswith("STATUS=")])
    assert 1 <= told <= time.monotonic() - began + 1


def test_watchdog_is_fed(make_service):
    service = make_service(watchdog_s=1)
    service.wait_notification("WATCHDOG=1")


def test_watchdog_is_fed_while_a_device_hangs(make_service, nbd):
    service, device = make_service(watchdog_s=1), nbd()
    bus = Service(service)
    (run,) = bus.start(LONG_JOB, device)
    bus.wait_samples(run, 1)
    device.hang()
    wait_for(lambda: "stalled" in event_kinds(service, run), 15)
    before = service.read_notifications().count("WATCHDOG=1")
    wait_for(lambda: service.read_notifications().count("WATCHDOG=1") > before + 2)
    assert bus.run(run, "OldestIoNSec") >= 5e9


def test_manager_that_does_not_read_holds_up_nobody(make_service, loop):
    path = scratch_path("deaf") / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(path))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as teller, contextlib.suppress(BlockingIOError):
            teller.setblocking(False)
            while True:
                teller.sendto(b"full", str(path))
        service = make_service(start=False, watchdog_s=1, NOTIFY_SOCKET=str(path))
        service.start(ready=False)
        bus = Service(service)
        wait_for(lambda: "ready, database" in service.log(), 10, "service")
        (run,) = bus.start(LONG_JOB, loop())
        bus.wait_samples(run, 3)
        began = time.monotonic()
        assert bus.run(run, "State") == "running"
        assert time.monotonic() - began < 1 * PATIENCE
        assert service.stop() == 0


# --- its own end ---------------------------------------------------------------------------------------


def test_stop_interrupts_runs_and_keeps_all_samples(own_service, loop):
    device, bus = loop(), Service(own_service)
    before = device.stat()
    (run,) = bus.start(LONG_JOB, device)
    bus.wait_samples(run, 2)
    (worker,) = own_service.workers()

    assert own_service.stop() == 0
    assert "STOPPING=1" in own_service.read_notifications()
    assert is_gone(worker)
    assert device.claim_is_free()
    assert state_in_database(own_service, run) == "interrupted"
    assert {"stopping", "outage"} <= set(event_kinds(own_service, run))
    ios, seqs, last = rows(own_service, "SELECT sum(write_ios), count(*), max(seq) FROM samples WHERE run = ?", run)[0]
    assert seqs == last + 1
    assert ios == sysfs_stat_since(device.path, before)["write_ios"]


def test_stop_without_runs(own_service):
    assert own_service.stop() == 0


def test_interrupt_from_the_terminal_is_a_stop(own_service):
    own_service.process.send_signal(signal.SIGINT)
    assert own_service.process.wait(20) == 0


def test_stop_is_not_held_by_a_hung_device(own_service, nbd, loop):
    hung, healthy, bus = nbd(), loop(), Service(own_service)
    runs = bus.start(LONG_JOB, hung, healthy)
    for run in runs:
        bus.wait_samples(run, 1)
    workers = own_service.workers()
    hung.hang()
    wait_for(lambda: bus.run(runs[0], "OldestIoNSec") > 1e9)

    began = time.monotonic()
    assert own_service.stop() == 0
    assert time.monotonic() - began < DEADLINE_OF_STOP_S
    assert [state_in_database(own_service, run) for run in runs] == ["interrupted"] * 2
    assert any("were pending" in detail for _, detail in events(own_service, runs[0]))

    # Left to itself, the worker ends when its device answers.
    assert not all(map(is_gone, workers))
    hung.unhang()
    wait_for(lambda: all(map(is_gone, workers)), 10)


def test_stop_while_a_run_is_being_started(own_service, nbd):
    device, bus = nbd(), Service(own_service)
    device.hang()
    call = subprocess.Popen(
        ["busctl", "--user", "call", "org.plateau.Plateau1", ROOT, MANAGER, "StartRuns", "ssasasa{sv}", "j", LONG_JOB,
         "1", device.path, "1", device.confirm, "0"], env=own_service.environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    own_service.wait_workers(1)
    assert bus.get(ROOT, MANAGER, "Version")  # it goes on meanwhile
    assert own_service.stop() == 0
    _, err = call.communicate(timeout=20)
    assert "the service is stopping" in err
    device.unhang()


def test_lost_bus_ends_it_cleanly_with_a_failure(make_service, loop):
    service, device = make_service(), loop()
    bus = Service(service)
    (run,) = bus.start(LONG_JOB, device)
    bus.wait_samples(run, 1)
    service.bus.close()
    assert service.process.wait(30) == 5
    assert "the connection to the bus is lost" in service.log()
    assert state_in_database(service, run) == "interrupted"
    assert device.claim_is_free()


# --- ends that nobody asked for --------------------------------------------------------------------------


def test_killed_service_is_taken_up_again(own_service, loop):
    device, bus = loop(), Service(own_service)
    (run,) = bus.start(LONG_JOB, device)
    bus.wait_samples(run, 2)
    (worker,) = own_service.kill9()
    wait_for(lambda: is_gone(worker), 3)

    with open(device.path, "rb"):
        own_service.start()
        assert bus.run(run, "State") == "interrupted"
        assert bus.run(run, "Device") == device.path
        wait_for(lambda: event_kinds(own_service, run).count("outage") == 2, 20, "that it has to wait")

        # Nothing has to be stopped, so it is stopped at once.
        assert bus.command(run, "Stop") == [0]
        bus.wait_state(run, "stopped")
        assert state_in_database(own_service, run) == "stopped"

    # Numbers go on, and the device is free for another run.
    (second,) = bus.start(short_job(), device)
    assert second == run + 1
    bus.wait_state(second, "done")


def test_killed_worker_interrupts_its_run_only(own_service, loop):
    bus = Service(own_service)
    runs = bus.start(LONG_JOB, loop(), loop())
    for run in runs:
        bus.wait_samples(run, 1)
    os.kill(own_service.workers()[0], signal.SIGKILL)
    victim, other = wait_for(lambda: "outage" in event_kinds(own_service, runs[0]) and runs
                             or "outage" in event_kinds(own_service, runs[1]) and runs[::-1])  # fmt: skip
    assert any(kind == "outage" and "SIGKILL" in detail for kind, detail in events(own_service, victim))
    wait_for(lambda: "resumed" in event_kinds(own_service, victim))
    bus.wait_state(victim, "running")
    assert "outage" not in event_kinds(own_service, other)


def test_worker_inherits_nothing_but_its_socket(make_service, loop):
    service = make_service(start=False)
    # A careless parent leaves a descriptor open that would stay open through exec.
    careless = scratch_path("careless") / "plateaud"
    careless.write_text(f'#!/bin/sh\nexec 9</dev/zero\nexec {service.program} "$@"\n')
    careless.chmod(0o755)
    service.program = careless
    service.start()
    bus = Service(service)
    (run,) = bus.start(LONG_JOB, loop())
    bus.wait_samples(run, 1)
    (worker,) = service.workers()
    links = {int(fd): os.readlink(f"/proc/{worker}/fd/{fd}") for fd in os.listdir(f"/proc/{worker}/fd")}
    assert links[0] == "/dev/null"
    assert links[3].startswith("socket:")
    assert [link for fd, link in links.items() if fd != 3 and link.startswith("socket:")] == []
    assert [link for link in links.values() if "plateau.db" in link or link == "/dev/zero"] == []
    environment = open(f"/proc/{worker}/environ").read().split("\0")
    assert [e for e in environment if e.startswith(("NOTIFY_SOCKET", "WATCHDOG_", "DBUS_"))] == []
    assert os.getsid(worker) == worker  # the terminal's Ctrl-C is for the service


# --- the database in trouble -------------------------------------------------------------------------------


def test_locked_database_loses_no_sample_and_hides_nothing(own_service, loop):
    bus = Service(own_service)
    (run,) = bus.start(LONG_JOB, loop())
    bus.wait_samples(run, 1)

    other = sqlite3.connect(own_service.db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    trouble = wait_for(lambda: (told := bus.get(ROOT, MANAGER, "DatabaseState")) != "ok" and told, 20)
    assert "locked" in trouble and "no answer from its disk" not in trouble
    began = time.monotonic()
    assert bus.run(run, "State") == "running"
    assert time.monotonic() - began < 1 * 3
    own_service.wait_notification("STATUS=1 run")
    wait_for(lambda: [s for s in own_service.read_notifications() if "; database: " in s])
    other.execute("ROLLBACK")
    other.close()

    wait_for(lambda: bus.get(ROOT, MANAGER, "DatabaseState") == "ok", 20)
    bus.command(run, "Stop")
    bus.wait_state(run, "stopped")
    count, last = rows(own_service, "SELECT count(*), max(seq) FROM samples WHERE run = ?", run)[0]
    assert count == last + 1
    assert count >= 5
    assert event_kinds(own_service, run).count("database") == 2


def test_locked_database_starts_nothing(own_service, loop):
    device, bus = loop(), Service(own_service)
    other = sqlite3.connect(own_service.db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    before = device.stat()
    with pytest.raises(BusError, match="plateau.db"):
        bus.start(LONG_JOB, device)
    other.execute("ROLLBACK")
    other.close()
    assert device.stat()["write_ios"] == before["write_ios"]
    assert rows(own_service, "SELECT count(*) FROM runs WHERE state NOT IN ('refused')")[0][0] == 0
    own_service.wait_workers(0)
