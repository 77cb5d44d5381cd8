# SPDX-License-Identifier: MIT
"""SNIA's IOPS test ends by itself: with the round in which it is steady, and not before that round is complete."""

import re

import pytest
from harness import KIB, MIB, wait_for

SIZE = 64 * MIB
STEP = 500  # ms of each of the four phases of a round


def rounds(levels):
    """A round for each level: the tracked writes are held to so many a second, and are neither first nor last in it."""
    head = f"[global]\nsample_interval=100ms\nnorandommap\nstep_time={STEP}ms\naction=matrix\nbs=8k,4k\niodepth=4\n"
    sections = (
        f"[{i} write]\nrw=randwrite\nrate_iops={level}\n[{i} read]\nrw=randread\nrate_iops=500\n"
        for i, level in enumerate(levels, 1)
    )
    return head + "".join(sections) + "[stop]\nsnia_iops_steady=1\n"


def ended(service, number):
    """The test of a run that ended by itself, each of its points with as many passes as it has rounds."""
    shown = service.wait_state(number, "done", "failed", timeout=60)
    assert shown["state"] == "done"
    test = service.cli.json("analyze", number)["snia"]["iops_test"]
    assert test["attained"]
    points = [(phase["rw"], phase["bs"]) for phase in shown["phases"] if phase["state"] == "done"]
    n_rounds = len(points) // 4
    assert points == [(rw, bs * KIB) for rw in ("randwrite", "randread") for bs in (8, 4)] * n_rounds
    # The worker was told in time, so nothing of a further round was begun.
    assert all(phase["state"] == "pending" for phase in shown["phases"][4 * n_rounds :])
    return shown, test, n_rounds


def details(shown, kind):
    return [event["detail"] for event in shown["events"] if event["kind"] == kind]


def test_a_steady_drive_ends_it_at_the_first_window(service, loop):
    (number,) = service.start_run(rounds([600] * 7), loop(SIZE))
    shown, test, n_rounds = ended(service, number)
    # Five, unless a busy machine has made one of them another level.
    assert n_rounds == test["n_rounds"] == test["first"]["last_round"] in (5, 6, 7)
    (stopping,) = details(shown, "stopping")
    assert re.fullmatch(rf"\[stop\] snia_iops_steady=1: rounds {n_rounds - 4} to {n_rounds} are steady, with \d+ IOPS "
                        rf"of 4 KiB random writes; the run ends with this round, after phase {4 * n_rounds - 1} "
                        rf"'{n_rounds} read'", stopping)  # fmt: skip
    assert details(shown, "finished") == [f"done: {stopping.split(';')[0]}"]
    assert f"with {test['first']['average_iops']:.0f} IOPS" in stopping


def test_an_unsteady_drive_goes_on_until_it_is_steady(service, loop):
    (number,) = service.start_run(rounds([300, 900, 300, *[1000] * 7]), loop(SIZE))
    shown, test, n_rounds = ended(service, number)
    assert n_rounds == 8 and (test["first"]["first_round"], test["first"]["last_round"]) == (4, 8)
    assert "rounds 4 to 8 are steady" in details(shown, "finished")[0]


def test_one_that_is_never_steady_makes_all_its_rounds(service, loop):
    (number,) = service.start_run(rounds([300, 900, 300, 900, 300, 900]), loop(SIZE))
    shown = service.wait_state(number, "done")
    assert [phase["state"] for phase in shown["phases"]] == ["done"] * 24
    assert not details(shown, "stopping") and details(shown, "finished") == ["done"]


def test_a_killed_service_is_no_reason_to_end_it_otherwise(own_service, loop):
    (number,) = own_service.start_run(rounds([600] * 12), loop(SIZE))
    wait_for(lambda: any(sample["phase"] >= 13 for sample in own_service.samples(number)), 30, "its fourth round")
    own_service.kill9()
    own_service.start()
    shown, test, n_rounds = ended(own_service, number)

    # The five rounds begin anew after the outage, wherever in a round it was; those before are not forgotten.
    (*_, outage) = (event["elapsed_s"] for event in shown["events"] if event["kind"] == "outage")
    assert test["first"]["from_s"] >= outage > test["rounds"][2]["to_s"]
    tracked = [phase["elapsed_s"] for phase in shown["phases"] if (phase["rw"], phase["bs"]) == ("randwrite", 4 * KIB)]
    assert tracked[2] == pytest.approx(STEP / 1000, abs=0.1)
    assert n_rounds in (8, 9) and test["first"]["last_round"] == test["n_rounds"]
    words = f"rounds {test['first']['first_round']} to {test['first']['last_round']} are steady"
    assert words in details(shown, "finished")[0]
