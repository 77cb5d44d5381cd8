# SPDX-License-Identifier: MIT
"""A drive that is pulled out while it is written: its run is lost, at once and quietly, the others do not notice, and
what is plugged in afterwards is another drive, whatever the kernel calls it."""

import pytest
from guest import Drive
from harness import MIB


@pytest.fixture(scope="module")
def unplugged(guest):
    """A run whose drive has just gone and another beside it: (run, path the drive had, slot, other run)."""
    other, run = guest.start("target"), guest.start("victim")
    for started in (run, other):
        guest.wait_samples(started, 3)
    path = guest.path("victim")
    slot = guest.unplug("victim").slot
    yield run, path, slot, other
    guest.plateau("stop", other)
    guest.wait_state(other, "stopped")


def test_run_is_lost_at_once_and_tells_little(guest, unplugged):
    run, path, _, _ = unplugged
    shown = guest.wait_state(run, "lost")
    kinds = [event["kind"] for event in shown["events"]]
    assert kinds[-1] == "lost" and set(kinds) == {"started", "phase", "lost"}
    assert f"{path} is gone" in shown["events"][-1]["detail"]
    assert shown["errors"] == []  # of a full drive, as the kernel calls it
    assert guest.samples(run)[-1]["elapsed_s"] == shown["elapsed_s"]
    messages = guest(f"journalctl -b -q -u plateaud -o cat --grep '^plateaud: run {run} '").out.splitlines()
    assert 0 < len(messages) <= 5, messages


def test_other_run_goes_on_without_a_gap(guest, unplugged):
    run, _, _, other = unplugged
    guest.wait_state(run, "lost")
    n = len(guest.samples(other))
    samples = guest.wait_samples(other, n + 3)
    assert all(sample["write_ios"] > 0 for sample in samples[1:])
    shown = guest.row(other)
    assert (shown["state"], shown["errors"]) == ("running", [])
    assert {event["kind"] for event in shown["events"]} == {"started", "phase"}


def test_drive_in_its_place_is_not_touched(guest, unplugged):
    run, path, slot, other = unplugged
    guest.wait_state(run, "lost")
    stranger = Drive(guest.directory, "stranger", "nvme", "STRANGER", 256 * MIB)
    before = stranger.hash()
    guest.plug(stranger, slot)
    assert guest.path("stranger") == path
    guest("systemctl restart plateaud && udevadm settle")
    guest.wait_state(other, "running")
    assert guest.row(run)["state"] == "lost"
    assert guest.json("devices", path)["devices"][0]["reasons"] == []
    guest.unplug("stranger")
    assert stranger.hash() == before
