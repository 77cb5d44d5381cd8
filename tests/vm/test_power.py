# SPDX-License-Identifier: MIT
"""Machines lose their power in the middle of a night. Runs go on by themselves, on the drive that they wrote and on no
other."""

import subprocess

import pytest


def events(shown, kind):
    return [event for event in shown["events"] if event["kind"] == kind]


@pytest.fixture(scope="module")
def first_cut(guest):
    """Three runs, on a drive, on one of two with the same serial, and on one that gets a file system while the power
    is off; when it is back, the twins have changed places. Returns the runs, and hashes of the drives while off."""
    runs = {"kept": guest.start("kept"), "spare1": guest.start("spare1"),
            "twin1": guest.start("twin1", confirm=guest.path("twin1").removeprefix("/dev/"))}  # fmt: skip
    records = {name: guest.wait_samples(run, 5) for name, run in runs.items()}
    guest.power_cut()
    twin1, twin2 = (guest.drives.index(guest.drive(name)) for name in ("twin1", "twin2"))
    guest.drives[twin1], guest.drives[twin2] = guest.drives[twin2], guest.drives[twin1]
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-L", "others", str(guest.drive("spare1").file)], check=True)
    hashes = {name: guest.drive(name).hash() for name in ("twin1", "twin2", "spare1")}
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
