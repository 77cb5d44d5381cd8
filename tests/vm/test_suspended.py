# SPDX-License-Identifier: MIT
"""A machine that is suspended while it writes: its drive does not work meanwhile, and no figure of the run tells of
it."""

import datetime
import re

import pytest
from guest import JOB
from harness import PATIENCE

SUSPENDED_S = 25
RUNTIME_S = 20  # less than that: a clock that went on would end the run at once
CLOCK_S = 2  # the guest measures its absence by a clock that knows whole seconds, at either end


@pytest.fixture(scope="module")
def suspended(guest):
    """(a run that was three seconds old when the machine was suspended, once it is done; its samples; for how long the
    machine was away, in s)"""
    service = guest.unit("MainPID")
    run = guest.start("target", JOB.replace("runtime=3600", f"runtime={RUNTIME_S}"))
    count = f"SELECT count(*) >= 3 FROM samples WHERE run = {run}"
    away_s = guest.suspend(f'[ "$(sqlite3 -readonly /var/lib/plateau/plateau.db "{count}")" = 1 ]', SUSPENDED_S)
    shown = guest.wait_state(run, "done", "failed", "lost", "stopped", "refused")
    assert guest.unit("MainPID") == service, "the service was ended by its watchdog"
    return shown, guest.samples(run), away_s


def test_suspension_is_an_outage_with_its_length(suspended):
    shown, _, away_s = suspended
    told = [re.fullmatch(r"the machine was suspended for ([0-9.]+) s", event["detail"]) for event in shown["events"]
            if event["kind"] == "outage"]  # fmt: skip
    (length,) = [float(match[1]) for match in told if match]
    assert away_s - CLOCK_S <= length <= away_s + CLOCK_S + PATIENCE
    assert {event["kind"] for event in shown["events"]} == {"started", "phase", "outage", "finished"}


def test_suspension_is_no_running_time(suspended):
    shown, samples, away_s = suspended
    assert shown["state"] == "done"
    assert shown["elapsed_s"] == pytest.approx(RUNTIME_S, abs=1)
    assert sum(sample["duration_ns"] for sample in samples) == pytest.approx(shown["elapsed_s"] * 1e9)
    assert [sample["seq"] for sample in samples] == list(range(len(samples)))
    first, last = (datetime.datetime.fromisoformat(samples[i]["at"]).timestamp() for i in (0, -1))
    assert last - first >= shown["elapsed_s"] - samples[0]["elapsed_s"] + away_s - CLOCK_S


def test_suspension_is_in_no_sample_and_no_latency(suspended):
    shown, samples, _ = suspended
    assert max(sample["duration_ns"] for sample in samples) < SUSPENDED_S / 4 * 1e9
    assert max(sample["latency_max_ns"] or 0 for sample in samples) < SUSPENDED_S / 4 * 1e9
    assert sum(sample["write_ios"] for sample in samples) == shown["phases"][0]["ios"]
    assert samples[-1]["write_ios"] > 0, "the run did not go on"
    assert shown["errors"] == []
