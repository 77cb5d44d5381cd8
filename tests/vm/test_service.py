# SPDX-License-Identifier: MIT
"""The shipped unit under a real systemd: it starts, owns its name, keeps its promises of privileges and permissions,
and stops and restarts while a run is going on."""

import json

import pytest
from guest import JOB
from harness import wait_for

NO_CAPABILITIES = "0" * 16
CAPABILITIES = {"DAC_OVERRIDE": 1, "DAC_READ_SEARCH": 2, "KILL": 5, "SETGID": 6, "SETUID": 7, "SETPCAP": 8,
                "IPC_LOCK": 14, "SYS_PTRACE": 19, "SYS_ADMIN": 21, "SYS_RESOURCE": 24}  # fmt: skip
UNIT = "/usr/local/lib/systemd/system/plateaud.service"


@pytest.fixture(scope="module")
def running(guest):
    """A run on the target, for the tests that look on or disturb it."""
    run = guest.start("target")
    guest.wait_samples(run, 2)
    yield run
    guest.plateau("stop", run, check=False)
    guest.wait_state(run, "stopped")


def test_unit_is_valid(guest):
    verified = guest(f"systemd-analyze verify --man=no {UNIT}")
    assert verified.out + verified.err == ""


def test_unit_is_enabled_and_told_systemd_that_it_is_ready(guest):
    assert guest("systemctl is-enabled plateaud").out == "enabled\n"
    shown = guest.unit("Type", "ActiveState", "NRestarts", "StatusText")
    assert shown == {"Type": "notify", "ActiveState": "active", "NRestarts": "0", "StatusText": "no runs"}


def test_name_on_the_bus_is_the_services(guest):
    status = guest("busctl --system status org.plateau.Plateau1").out.splitlines()
    assert "Unit=plateaud.service" in status
    assert f"PID={guest.unit('MainPID')['MainPID']}" in status


def test_a_call_on_the_bus_starts_the_service(guest):
    guest("systemctl stop plateaud")
    assert guest.unit("ActiveState") == {"ActiveState": "inactive"}
    guest.plateau("pause", 1000, check=6)
    assert guest.unit("ActiveState") == {"ActiveState": "active"}


def test_short_run_completes(guest):
    run = guest.start("target", "[p]\nrw=randwrite\nbs=4k\niodepth=8\ntime_based\nruntime=3\n")
    shown = guest.wait_state(run, "done")
    samples = guest.json("samples", run)["samples"]
    assert sum(sample["write_ios"] for sample in samples) == shown["phases"][0]["ios"] > 0
    assert shown["phases"][0]["errors"] == 0
    assert (shown["device"]["serial"], shown["device"]["size_bytes"]) == ("TARGET", guest.drive("target").size)


def test_worker_has_no_privileges(guest, running):
    (worker,) = guest.workers()
    for thread in guest(f"ls /proc/{worker}/task").out.split():
        lines = guest(f"cat /proc/{worker}/task/{thread}/status").out.splitlines()
        status = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
        assert {status[key] for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {NO_CAPABILITIES}
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        user = guest("id -u plateau").out.strip()
        assert set(status["Uid"].split()) == {user} != {"0"}
        assert "0" not in status["Gid"].split() + status["Groups"].split()


def test_service_itself_has_only_what_it_needs(guest):
    status = guest(f"cat /proc/{guest.unit('MainPID')['MainPID']}/status").out
    fields = {line.split()[0]: line.split()[-1] for line in status.splitlines()}
    assert (fields["NoNewPrivs:"], fields["Seccomp:"]) == ("1", "2")
    assert int(fields["CapBnd:"], 16) == sum(1 << number for number in CAPABILITIES.values())


def test_records_are_read_by_the_group_and_written_by_nobody_else(guest, running):
    listed = guest("stat -c '%A %U %G %n' /var/lib/plateau /var/lib/plateau/*").out.splitlines()
    assert len(listed) >= 3
    for line in listed:
        mode, owner, group, _ = line.split()
        assert (owner, group) == ("root", "plateau"), line
        assert mode[5] == "-" and mode[7:] == "---", line
    nobody = "setpriv --reuid=nobody --regid=nogroup"
    assert guest(f"{nobody} --clear-groups plateau list", check=5).err
    seen = guest(f"{nobody} --groups=plateau plateau list --json").json["runs"]
    assert seen[0]["run"] == running


def test_only_root_may_start_and_stop(guest, running):
    nobody = "setpriv --reuid=nobody --regid=nogroup --groups=plateau"
    guest(f"{nobody} plateau stop {running}", check=4)
    guest(f"{nobody} plateau start - --device {guest.path('spare1')} --confirm SPARE1", input=JOB, check=4)
    assert guest.row(running)["state"] == "running"


def test_journal_has_no_complaint(guest, running):
    """Of the service, of systemd about its unit, or of the bus about its policy; all that went before was legal."""
    assert guest("journalctl -b -q -p warning -u plateaud -o cat").out == ""
    for line in guest("journalctl -b -q -p warning -o json").out.splitlines():
        assert "plateau" not in str(json.loads(line).get("MESSAGE")), line


def test_restart_goes_on_with_the_run(guest, running):
    before = guest.row(running), guest.samples(running)
    guest("systemctl restart plateaud")
    guest.wait_resumed(running, *before)


def test_stop_takes_the_worker_along_and_start_goes_on_with_the_run(guest, running):
    before = guest.row(running), guest.samples(running)
    guest("systemctl stop plateaud")
    assert guest.unit("ActiveState", "Result") == {"ActiveState": "inactive", "Result": "success"}
    assert guest.workers() == []
    assert guest.row(running)["state"] == "interrupted"
    guest("systemctl start plateaud")
    guest.wait_resumed(running, *before)


def test_killed_service_is_started_again_and_goes_on_with_the_run(guest, running):
    before = guest.row(running), guest.samples(running)
    guest(f"kill -KILL {guest.unit('MainPID')['MainPID']}")
    guest.wait_resumed(running, *before)


@pytest.fixture
def impatient_watchdog(guest):
    own = "/run/systemd/system/plateaud.service.d"
    guest(f"mkdir {own} && printf '[Service]\\nWatchdogSec=5\\n' >{own}/watchdog.conf && systemctl daemon-reload && "
          "systemctl restart plateaud")  # fmt: skip
    yield
    guest(f"rm -r {own} && systemctl daemon-reload && systemctl restart plateaud")


def test_service_that_hangs_is_ended_and_started_again_and_goes_on_with_the_run(guest, running, impatient_watchdog):
    guest.wait_state(running, "running")
    before = guest.row(running), guest.samples(running)
    guest(f"kill -STOP {guest.unit('MainPID')['MainPID']}")
    guest.wait_resumed(running, *before)
    assert "watchdog" in guest("journalctl -b -q -u plateaud -o cat").out.lower()


# A drive that a device mapper in between can make to answer nothing any more.
MAPPED = 'dmsetup create mapped --table "0 $(blockdev --getsz $1) linear $1 0" && udevadm settle'


@pytest.fixture
def hung(guest, running):
    """(a run whose drive has just stopped answering, its worker); there is another one."""
    others = guest.workers()
    guest(MAPPED, guest.path("victim"))
    try:
        (device,) = guest.json("devices", "/dev/mapper/mapped")["devices"]
        run = guest.json("start", "-", "--device", device["path"], "--confirm", device["confirm"], input=JOB)["run"]
        guest.wait_samples(run, 1)
        (worker,) = set(guest.workers()) - set(others)
        guest("dmsetup suspend --noflush --nolockfs mapped")
        wait_for(lambda: guest.samples(run)[-1]["write_ios"] == 0, 30, "a second without completions", interval=0.5)
        yield run, worker
        guest("dmsetup resume mapped")
        guest.plateau("stop", run)
        guest.wait_state(run, "stopped")
        wait_for(lambda: len(guest.workers()) == len(others), 30, "the worker's end", interval=0.5)
    finally:
        guest("dmsetup resume mapped && udevadm settle && dmsetup remove --retry mapped")


def test_restart_and_stop_work_while_a_drive_hangs(guest, hung):
    """Without the worker, which nobody can end, and without a second one on the drive."""
    run, worker = hung
    guest("systemctl restart plateaud")
    held = f"still held by a former worker of plateau (process {worker})"
    wait_for(lambda: any(held in event["detail"] for event in guest.row(run)["events"]), 60, held, interval=0.5)
    guest("systemctl stop plateaud")
    assert guest.unit("ActiveState", "Result") == {"ActiveState": "inactive", "Result": "success"}
    # The one that looked for the drive to take the run up again may take a moment longer than the service.
    wait_for(lambda: guest.workers() == [worker], 30, "no worker but the hung one", interval=0.5)
    guest("systemctl start plateaud")
    assert guest.row(run)["state"] == "interrupted"
    guest("dmsetup resume mapped")
    wait_for(lambda: worker not in guest.workers(), 30, "the old worker's end", interval=0.5)
