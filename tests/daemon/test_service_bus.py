# SPDX-License-Identifier: MIT
"""The bus interface as docs/bus.md describes it, with callers and arguments of every kind."""

import pytest
from harness import content_hash, wait_for
from service_bus import (
    LONG_JOB, MANAGER, NOBODY, ROOT, RUN, BusError, Monitor, Service, event_kinds, events, rows, short_job,
    state_in_database,
)  # fmt: skip


@pytest.fixture
def bus(service):
    return Service(service)


def n_runs(service) -> int:
    return rows(service, "SELECT count(*) FROM runs")[0][0]


# --- starting ----------------------------------------------------------------------------------------


def test_runs_come_in_the_order_of_their_devices(bus, service, loop):
    devices = [loop(), loop(), loop()]
    runs = bus.start(short_job(), *devices)
    assert runs == sorted(runs)
    assert [bus.run(run, "Device") for run in runs] == [device.path for device in devices]
    for run in runs:
        bus.wait_state(run, "done")


def test_one_refusal_starts_none_and_all_reasons_are_told(bus, service, loop):
    devices, before = [loop(), loop(), loop()], n_runs(service)
    hashes = [content_hash(device.file) for device in devices]
    with pytest.raises(BusError) as refused:
        bus.start(LONG_JOB, *devices, confirm=[devices[1].confirm])
    assert devices[0].path in str(refused.value)
    assert devices[1].path not in str(refused.value)
    assert devices[2].path in str(refused.value)
    assert n_runs(service) == before
    wait_for(lambda: all(device.claim_is_free() for device in devices), 5)
    assert [content_hash(device.file) for device in devices] == hashes


def test_same_device_twice_is_refused(bus, service, loop):
    device = loop()
    with pytest.raises(BusError, match="same device"):
        bus.start(LONG_JOB, device, device)
    other_name = f"/dev/../{device.path}"
    with pytest.raises(BusError, match="same device"):
        bus.start(LONG_JOB, device, other_name)
    assert service.workers() == []


def test_device_with_a_run_is_refused_by_number(bus, service, loop):
    device = loop()
    (run,) = bus.start(LONG_JOB, device)
    with pytest.raises(BusError, match=f"run {run} is on it"):
        bus.start(LONG_JOB, device)
    assert len(service.workers()) == 1
    bus.command(run, "Stop")
    bus.wait_state(run, "stopped")


def test_device_that_hangs_at_the_beginning_is_given_up(own_service, nbd, loop):
    hung, healthy, bus = nbd(), loop(), Service(own_service)
    hung.hang()
    with pytest.raises(BusError, match=f"{hung.path}: the device did not answer within 30 s"):
        bus.start(LONG_JOB, hung, healthy, timeout=90)
    assert healthy.claim_is_free()
    (run,) = bus.start(short_job(), healthy)
    bus.wait_state(run, "done")
    hung.unhang()
    own_service.wait_workers(0)


@pytest.mark.parametrize(
    ("job", "message"),
    (
        ("[w]\nrw=randwrite\nbs=4k\nfilename=/dev/sda\n", "filename"),
        ("[w]\nrw=rondwrite\n", "rondwrite"),
        ("", "phase"),
        ("[w]\nrw=randwrite\nbs=100\n", "bs"),
    ),
)
def test_bad_job_is_usage_and_starts_no_worker(bus, service, loop, job, message):
    before = n_runs(service)
    with pytest.raises(BusError, match=message):
        bus.start(job, loop())
    assert n_runs(service) == before


def test_errors_have_the_names_of_their_kind(bus):
    assert bus.error_name(ROOT, MANAGER, "GetRun", "string:4000000000") == "NotFound"
    assert bus.error_name(ROOT, MANAGER, "GetRun", "string:first") == "Usage"
    assert bus.error_name(ROOT, MANAGER, "GetRun", "string:-1") == "Usage"
    assert bus.error_name(ROOT, MANAGER, "GetRun", "string:99999999999999999999999") in ("Usage", "NotFound")
    # dbus-send cannot send a dict of variants, so StartRuns itself is tried by busctl.
    with pytest.raises(BusError, match="no device"):
        bus.start(LONG_JOB)
    with pytest.raises(BusError, match="at most 128"):
        bus.start(LONG_JOB, *[f"/dev/none{i}" for i in range(129)])
    with pytest.raises(BusError, match="no start option 'erase'"):
        bus.start(LONG_JOB, "/dev/none", options=[("erase", "b", "true")])
    with pytest.raises(BusError, match="arguments of StartRuns"):
        bus.start(LONG_JOB, "/dev/none", options=[("label", "b", "true")])
    with pytest.raises(BusError, match="at most 256"):
        bus.start(LONG_JOB, "/dev/none", options=[("label", "s", "x" * 257)])
    with pytest.raises(BusError, match="the job's name has 256 bytes: expected at most 4096, and 255"):
        bus.start(LONG_JOB, "/dev/none", name="x" * 256)
    with pytest.raises(BusError, match="/dev/none"):
        bus.start(LONG_JOB, "/dev/none")


HOSTILE = ["%s%n%s%n", "'; DROP TABLE runs; --", "a\nb\x1b[31mc\td", "\u202egnirts", "é" * 127, "", '"\\"']


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_come_back_as_they_were(bus, service, loop, text):
    (run,) = bus.start(short_job(), loop(), name=text or "j", options=[("label", "s", text)])
    assert bus.run(run, "Label") == text
    assert bus.run(run, "JobName") == (text or "j")
    bus.wait_state(run, "done")
    assert rows(service, "SELECT label FROM runs WHERE run = ?", run)[0][0] in (text, text or None)
    assert "\x1b" not in service.log()


@pytest.mark.parametrize("path", [*HOSTILE, "/dev", "/", "/dev/null", "/etc/passwd", "/dev/" + "x" * 5000, "relative"])
def test_hostile_device_paths_are_refused(bus, service, path):
    before = n_runs(service)
    with pytest.raises(BusError):
        bus.start(LONG_JOB, path)
    assert n_runs(service) == before
    assert bus.get(ROOT, MANAGER, "DatabaseState") == "ok"
    assert "\x1b" not in service.log()


# --- who may -------------------------------------------------------------------------------------------


def test_everybody_may_look_but_not_touch(service, bus, loop):
    device, nobody = loop(), Service(service, user=NOBODY)
    (run,) = bus.start(LONG_JOB, device)
    path = f"{ROOT}/run/{run}"

    assert nobody.get(path, RUN, "State") in ("queued", "running")
    assert nobody.call(ROOT, MANAGER, "GetRun", "s", str(run)) == [path]
    assert nobody.call(ROOT, MANAGER, "ListRuns")
    for method in ("Pause", "Resume", "Stop"):
        assert nobody.error_name(path, RUN, method) == "NotPermitted"
    with pytest.raises(BusError, match="only root"):
        nobody.start(LONG_JOB, loop())

    assert bus.wait_state(run, "running")
    assert len(service.workers()) == 1
    bus.command(run, "Stop")
    bus.wait_state(run, "stopped")


# --- runs as objects -----------------------------------------------------------------------------------


def test_a_run_tells_what_it_is_and_how_it_goes(bus, service, loop):
    device = loop()
    (run,) = bus.start(LONG_JOB, device, name="name", options=[("label", "s", "rack 7")])
    bus.wait_samples(run, 2)
    path = f"{ROOT}/run/{run}"
    (everything,) = bus.call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", RUN)
    values = {key: value["data"] for key, value in everything.items()}
    assert values["Id"] == run
    assert values["State"] == "running"
    assert values["JobName"] == "name"
    assert values["Label"] == "rack 7"
    assert values["Device"] == device.path
    assert values["SizeBytes"] == device.size
    assert values["Phase"] == "w"
    assert values["PhaseIndex"] == 0
    assert values["WaitsFor"] == ""
    assert values["UnansweredNSec"] == 0
    assert values["NPhases"] == 1
    assert values["ElapsedNSec"] >= 1e9
    assert values["PlannedNSec"] == 600e9
    assert values["Iops"] > 0
    assert 0 < values["InFlight"] <= 8
    assert values["OldestIoNSec"] > 0
    assert isinstance(values["Notices"], list)
    assert values["Model"] == values["Serial"] == ""
    bus.command(run, "Stop")
    bus.wait_state(run, "stopped")
    assert bus.run(run, "Iops") == 0


def test_paths_are_exact(bus, service, loop):
    (run,) = bus.start(short_job(), loop())
    for name in (f"0{run}", f"{run}x", "0", "4294967295", "4294967296", "x", f"{run}/1"):
        with pytest.raises(BusError, match="Unknown object"):
            bus.get(f"{ROOT}/run/{name}", RUN, "State")
    bus.wait_state(run, "done")


def test_tree_and_introspection_work(bus, service, loop):
    (run,) = bus.start(short_job(), loop())
    assert f"{ROOT}/run/{run}" in bus.busctl("tree", "--list", "org.plateau.Plateau1").stdout.split()
    listed = bus.busctl("introspect", "org.plateau.Plateau1", f"{ROOT}/run/{run}").stdout
    for member in ("Pause", "Resume", "Stop", "State", "Iops", "Event"):
        assert f".{member} " in listed or f'"{member}"' in listed
    (objects,) = bus.call(ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    assert objects[f"{ROOT}/run/{run}"][RUN]["Id"]["data"] == run
    bus.wait_state(run, "done")


def test_old_runs_answer_but_are_not_listed(own_service, loop):
    bus = Service(own_service)
    (run,) = bus.start(short_job(), loop())
    bus.wait_state(run, "done")
    own_service.restart()
    assert bus.run(run, "State") == "done"
    assert bus.call(ROOT, MANAGER, "GetRun", "s", "last") == [f"{ROOT}/run/{run}"]
    assert bus.call(ROOT, MANAGER, "ListRuns") == [[[run, "done", f"{ROOT}/run/{run}"]]]
    assert f"{ROOT}/run/{run}" not in bus.busctl("tree", "--list", "org.plateau.Plateau1").stdout.split()


# --- signals -------------------------------------------------------------------------------------------


def test_what_the_bus_tells_is_in_the_database(service, bus, loop):
    told = []

    def on_signal(member, path, data):
        if member == "PropertiesChanged" and "State" in data[1]:
            run = int(path.rpartition("/")[2])
            told.append((data[1]["State"]["data"], state_in_database(service, run)))

    device = loop()
    with Monitor(service, on_signal) as monitor:
        (run,) = bus.start(short_job(), device)
        wait_for(lambda: told and told[-1][0] == "done", 20)
        assert monitor.changes(run, "Phase") == ["w"]
        assert monitor.events(run) == event_kinds(service, run) == ["started", "phase", "phase", "finished"]
    # A later state may have been written when we look; an earlier one may not.
    order = ["queued", "running", "done"]
    assert [state for state, _ in told] == ["running", "done"]
    assert all(order.index(stored) >= order.index(state) for state, stored in told)


def test_new_objects_are_announced(service, bus, loop):
    with Monitor(service) as monitor:
        (run,) = bus.start(short_job(), loop())
        path = f"{ROOT}/run/{run}"

        def announced():
            added = [data for member, _, data in list(monitor.seen) if member == "InterfacesAdded"]
            return [data for data in added if data[0] == path and RUN in data[1]]

        wait_for(announced)
        bus.wait_state(run, "done")


# --- commands ------------------------------------------------------------------------------------------


def test_pause_and_resume(service, bus, loop):
    (run,) = bus.start(LONG_JOB, loop())
    bus.wait_state(run, "running")
    bus.command(run, "Pause")
    bus.wait_state(run, "paused")
    assert state_in_database(service, run) == "paused"
    assert bus.run(run, "Iops") == 0
    assert bus.command(run, "Pause") == []
    bus.command(run, "Resume")
    bus.wait_state(run, "running")
    assert bus.command(run, "Resume") == []
    bus.command(run, "Stop")
    bus.wait_state(run, "stopped")
    kinds = [kind for kind in event_kinds(service, run) if kind != "phase"]
    assert kinds == ["started", "paused", "resumed", "stopping", "finished"]
    assert rows(service, "SELECT state FROM phases WHERE run = ?", run) == [("stopped",)]


def test_commands_on_an_ended_run(bus, service, loop):
    (run,) = bus.start(short_job(), loop())
    bus.wait_state(run, "done")
    path = f"{ROOT}/run/{run}"
    assert bus.error_name(path, RUN, "Pause") == "Failed"
    assert bus.error_name(path, RUN, "Resume") == "Failed"
    assert bus.command(run, "Stop") == [0]
    assert bus.run(run, "State") == state_in_database(service, run) == "done"


def test_stop_answers_at_once_though_the_device_hangs(own_service, nbd):
    device, bus = nbd(), Service(own_service)
    (run,) = bus.start(LONG_JOB, device)
    bus.wait_samples(run, 1)
    device.hang()
    wait_for(lambda: bus.run(run, "OldestIoNSec") > 1e9)
    assert bus.command(run, "Stop")[0] > 0
    wait_for(lambda: "stopping" in event_kinds(own_service, run))
    assert bus.run(run, "State") == "running"
    device.unhang()
    bus.wait_state(run, "stopped")
    assert events(own_service, run)[-1][0] == "finished"
