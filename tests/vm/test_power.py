# SPDX-License-Identifier: MIT
"""Machines lose their power in the middle of a night. Runs go on by themselves, on the drive that they wrote and on no
other."""

import datetime
import os
import random
import subprocess
import time

import pytest
from harness import PATIENCE

N_CUTS = 20 if os.environ.get("PLATEAU_TEST_LONG") else 5
LOST_S_MAX = 2
HARNESS_S = 0.3 * PATIENCE  # between asking the guest's clock and the cut; an emulated machine is slow to commit, too


def events(shown, kind):
    return [event for event in shown["events"] if event["kind"] == kind]


def seconds(at: str) -> float:
    return datetime.datetime.fromisoformat(at).timestamp()


@pytest.fixture(scope="module")
def first_cut(guest):
    """Four runs, on a drive, on one that loses its cache, on one of two with the same serial, and on one that gets a
    file system while the power is off; when it is back, the twins have changed places. Returns the runs, and hashes of
    the drives while off."""
    runs = {"kept": guest.start("kept"), "volatile": guest.start("volatile"), "spare1": guest.start("spare1"),
            "twin1": guest.start("twin1", confirm=guest.path("twin1").removeprefix("/dev/"))}  # fmt: skip
    records = {name: guest.wait_samples(run, 5) for name, run in runs.items()}
    guest.power_cut()
    twin1, twin2 = (guest.drives.index(guest.drive(name)) for name in ("twin1", "twin2"))
    guest.drives[twin1], guest.drives[twin2] = guest.drives[twin2], guest.drives[twin1]
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-L", "others", str(guest.drive("spare1").file)], check=True)
    hashes = {name: guest.drive(name).hash() for name in ("twin1", "twin2", "spare1", "volatile")}
    guest.boot()
    return runs, records, hashes


def test_run_goes_on_after_a_power_cut(guest, first_cut):
    runs, records, _ = first_cut
    shown = guest.wait_resumed(runs["kept"], {"events": []}, records["kept"])
    assert len(events(shown, "resumed")) == 1
    assert events(shown, "error") == []


def test_run_on_one_of_two_drives_that_cannot_be_told_apart_is_refused(guest, first_cut):
    runs, _, hashes = first_cut
    shown = guest.wait_state(runs["twin1"], "refused")
    (refused,) = events(shown, "refused")
    assert "TWIN" in refused["detail"] and guest.path("twin1") in refused["detail"]
    assert {name: guest.drive(name).hash() for name in ("twin1", "twin2")} == \
           {name: hashes[name] for name in ("twin1", "twin2")}  # fmt: skip


def test_drive_that_has_another_use_now_is_refused(guest, first_cut):
    runs, _, hashes = first_cut
    shown = guest.wait_state(runs["spare1"], "refused")
    (refused,) = events(shown, "refused")
    assert "ext4" in refused["detail"] and "others" in refused["detail"]
    assert guest.drive("spare1").hash() == hashes["spare1"]


def test_drive_that_lost_all_that_was_written_is_refused_without_accusing(guest, first_cut):
    runs, _, hashes = first_cut
    shown = guest.wait_state(runs["volatile"], "refused")
    (refused,) = events(shown, "refused")
    assert "either its write cache lost them with the power, or it was put to another use" in refused["detail"]
    assert guest.drive("volatile").hash() == hashes["volatile"]


def cut_at_random(guest, run) -> float:
    """Cuts the power of a guest with a run going on; returns how many seconds of its record are lost, in s."""
    n = len(guest.samples(run))
    guest.wait_samples(run, n + 3)
    clock = guest.clock()
    row, record = guest.row(run), guest.samples(run)
    time.sleep(random.uniform(0, 2))  # is the moment
    at = clock()
    guest.power_cut()
    guest.boot()
    assert guest("sqlite3 /var/lib/plateau/plateau.db 'PRAGMA integrity_check'").out == "ok\n"
    guest.wait_resumed(run, row, record)
    return at - max(seen for seen in (seconds(sample["at"]) for sample in guest.samples(run)) if seen < at)


def test_power_cuts_at_any_moment_lose_two_seconds_at_most(guest, first_cut, record_testsuite_property):
    run = first_cut[0]["kept"]
    guest.wait_state(run, "running")
    lost = []
    for _ in range(N_CUTS - 1):  # and the first one
        lost.append(cut_at_random(guest, run))
        print(f"{lost[-1]:.2f} s lost")
    record_testsuite_property("lost_s", [round(s, 2) for s in lost])
    assert max(lost) <= LOST_S_MAX + HARNESS_S
    guest.plateau("stop", run)
    assert guest.wait_state(run, "stopped")["errors"] == []
