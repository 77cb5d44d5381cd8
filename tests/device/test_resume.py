# SPDX-License-Identifier: MIT
"""A run that was interrupted goes on by itself, on its own drive or not at all. One outage of the service serves many
tests: each looks at a drive to which something else was done meanwhile."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
from types import SimpleNamespace

import needs
import pytest
from harness import MIB, LoopDevice, Plateaud, content_hash, end_runs, is_gone, scratch_path, wait_for

# What its tests share is made once, in one process.
pytestmark = pytest.mark.xdist_group("resume")

JUMP = 1 << 26  # of a random order over what may have been submitted unseen
SIZE = 64 * MIB
RANDOM = "[p]\nrw=randwrite\nbs=4k\niodepth=4\ntime_based\nruntime=600\n"
SEQUENTIAL = "[s]\nrw=write\nbs=64k\niodepth=4\nloops=100000\n"
IDLE = "[i]\naction=idle\nruntime=600\n"
FILL = "[w]\nrw=write\nbs=64k\n"
DISCARDED = FILL + "[d]\naction=discard\nsize=64k\n" + IDLE
TRIMMED = FILL + "[t]\nrw=randtrim\nbs=4k\nnumber_ios=1\n" + IDLE
ONLY_TRIMS = "[d]\naction=discard\n" + IDLE
PHASES = "[first]\nrw=write\nbs=64k\nsize=8m\n[second]\nrw=randwrite\nbs=4k\ntime_based\nruntime=600\n"


def query(service, sql, *parameters):
    database = sqlite3.connect(service.db)
    try:
        return database.execute(sql, parameters).fetchall()
    finally:
        database.close()


def positions(service, run, phase=0):
    columns = "first_index, low_index, next_index, next_write, issued_bytes"
    rows = query(service, f"SELECT {columns} FROM positions WHERE run = ? AND phase = ? ORDER BY share", run, phase)
    return [dict(zip(columns.split(", "), row)) for row in rows]


def position(service, run, phase=0):
    (only,) = positions(service, run, phase)
    return only


def details(shown, kind):
    return [event["detail"] for event in shown["events"] if event["kind"] == kind]


def kill_service(service):
    """As after a crash of the machine, but for what the drives lose: nobody is left who could still write."""
    for worker in service.kill9():
        wait_for(lambda pid=worker: is_gone(pid), 10, "the worker's end")


def check_goes_on(service, run, before):
    """Without a gap, and no second counted twice."""
    service.wait_state(run, "running")
    samples = service.wait_samples(run, len(before) + 2)
    assert [sample["seq"] for sample in samples] == list(range(len(samples)))
    elapsed = [sample["elapsed_s"] for sample in samples]
    assert elapsed == sorted(set(elapsed))
    assert samples[-1]["elapsed_s"] == pytest.approx(sum(s["duration_ns"] for s in samples) / 1e9, abs=1e-6)
    return samples


# --- one outage, many drives ---------------------------------------------------------------------


class Drive:
    """A scratch drive with a run on it, and what the outage did to it."""

    def __init__(self, service, job, stack):
        self.service = service
        self.device = stack.enter_context(LoopDevice(SIZE))
        stack.callback(end_runs)  # before it goes, also if the set-up fails
        (self.run,) = service.start_run(job, self.device)
        self.hash = None

    def note(self):
        """What it holds must not change from here on."""
        subprocess.run(["blockdev", "--flushbufs", self.device.path], check=False)
        self.hash = content_hash(self.device.file)

    @property
    def shown(self):
        return self.service.row(self.run)

    def is_untouched(self):
        return content_hash(self.device.file) == self.hash


def make_file_system(drive):
    subprocess.run(["mkfs.ext4", "-q", "-F", drive.device.path], check=True, capture_output=True)


def overwrite(drive):
    """As a program that has taken the drive for its own raw data: no signature tells of it."""
    with open(drive.device.path, "r+b") as f:
        f.write(os.urandom(SIZE // 4))
        os.fsync(f.fileno())


def erase(drive):
    """Somebody empties it for his own raw data, a little of which lies where the run has written, too."""
    with open(drive.device.path, "r+b") as f:
        f.write(bytes(SIZE))
        f.seek(SIZE // 2)
        f.write(os.urandom(128 * 1024))
        os.fsync(f.fileno())


def plan_otherwise(drive):
    """As if the job had counted the CPUs of a machine that has others now."""
    with sqlite3.connect(drive.service.db) as database:
        database.execute("UPDATE phases SET numjobs = numjobs + 1 WHERE run = ?", (drive.run,))
    database.close()


def replace(drive):
    """Another disk comes under the same name."""
    other = scratch_path("other") / "disk"
    with open(other, "xb") as f:
        f.truncate(SIZE)
    subprocess.run(["losetup", "--detach", drive.device.path], check=True)
    wait_for(lambda: not os.path.exists(f"/sys/block/{drive.device.name}/loop"), 5, "the disk's end")
    subprocess.run(["losetup", drive.device.path, other], check=True)
    drive.other = other
    drive.other_hash = content_hash(other)


@pytest.fixture(scope="module")
def outage():
    needs.need_service()
    needs.need_loop()
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(Plateaud())
        jobs = {"same": RANDOM, "sequential": SEQUENTIAL, "phases": PHASES, "paused": RANDOM, "formatted": RANDOM,
                "overwritten": RANDOM, "replaced": RANDOM, "opened": RANDOM, "given-up": RANDOM, "taken": RANDOM,
                "discarded": DISCARDED, "trimmed": TRIMMED, "only-trimmed": ONLY_TRIMS,
                "erased-discarded": DISCARDED, "erased-trimmed": TRIMMED, "overwritten-trims": ONLY_TRIMS,
                "replanned": RANDOM + "numjobs=$ncpus\n",
                "ramp": RANDOM + "ramp_time=500\n", "ramp-overwritten": RANDOM + "ramp_time=500\n",
                "threads": RANDOM + "workers=2\n", "sequential-threads": SEQUENTIAL + "workers=2\n"}
        drives = {name: Drive(service, job, stack) for name, job in jobs.items()}
        for drive in drives.values():
            service.wait_samples(drive.run, 2)
        for drive in (drives[name] for name, job in jobs.items() if job.endswith(IDLE)):
            last = len(drive.shown["phases"]) - 1
            wait_for(lambda: service.samples(drive.run)[-1]["phase"] == last, 20, "its last phase")
        service.cli("pause", drives["paused"].run)
        service.wait_state(drives["paused"].run, "paused")
        kill_service(service)

        for drive in drives.values():
            drive.before = service.samples(drive.run)
            drive.positions = positions(service, drive.run, len(drive.shown["phases"]) - 1)
            drive.position = drive.positions[0]
        make_file_system(drives["formatted"])
        overwrite(drives["overwritten"])
        overwrite(drives["overwritten-trims"])
        erase(drives["erased-discarded"])
        erase(drives["erased-trimmed"])
        overwrite(drives["ramp-overwritten"])
        plan_otherwise(drives["replanned"])
        replace(drives["replaced"])
        stack.callback(subprocess.run, ["losetup", "--detach", drives["replaced"].device.path])
        # Another run has come and gone, and its own service knows nothing of this one.
        other = stack.enter_context(Plateaud())
        other.run_job("[o]\nrw=write\nbs=1m\n", drives["taken"].device)
        for name in ("opened", "given-up"):
            drives[name].holder = stack.enter_context(open(drives[name].device.path, "rb", buffering=0))
        for drive in drives.values():
            drive.note()

        service.start()
        drives["service"] = service
        yield drives


@pytest.mark.parametrize("name", ["same", "ramp"])
def test_same_drive_goes_on(outage, name):
    drive = outage[name]
    check_goes_on(drive.service, drive.run, drive.before)
    (resumed,) = details(drive.shown, "resumed")
    assert f"on {drive.device.path}: 256 of its blocks read back" == resumed


def test_outage_is_an_event_with_its_length(outage):
    drive = outage["same"]
    drive.service.wait_state(drive.run, "running")
    down, over = details(drive.shown, "outage")
    assert "the service went down" in down
    assert over.startswith("it is over: ") and " by the wall clock" in over and " by the clock of this boot" in over


def test_what_was_recorded_is_read_again_to_go_on_judging(outage):
    log = outage["service"].log()
    assert "is running" in log and "its steady state is judged from here on only" not in log


def test_random_order_jumps_over_what_may_have_been_submitted(outage):
    drive = outage["same"]
    drive.service.wait_samples(drive.run, len(drive.before) + 1)
    now = position(drive.service, drive.run)
    assert now["first_index"] == drive.position["next_index"] + JUMP
    assert now["next_write"] >= drive.position["next_write"] + JUMP


def test_sequential_order_leaves_nothing_out(outage):
    drive = outage["sequential"]
    check_goes_on(drive.service, drive.run, drive.before)
    now = position(drive.service, drive.run)
    assert now["first_index"] == 0
    assert now["low_index"] <= now["issued_bytes"] / (64 * 1024) <= now["next_index"]
    assert now["next_write"] >= drive.position["next_write"] + JUMP


def test_several_ring_threads_go_on_each_where_it_was(outage):
    drive = outage["threads"]
    check_goes_on(drive.service, drive.run, drive.before)
    (resumed,) = details(drive.shown, "resumed")
    assert f"on {drive.device.path}: 256 of its blocks read back" == resumed
    now = positions(drive.service, drive.run)
    assert [p["first_index"] for p in now] == [p["next_index"] + JUMP for p in drive.positions]
    assert len({p["next_write"] % 2 for p in now}) == 2
    assert min(p["next_write"] for p in now) >= max(p["next_write"] for p in drive.positions) + 2 * JUMP


def test_several_sequential_ring_threads_leave_nothing_out(outage):
    drive = outage["sequential-threads"]
    check_goes_on(drive.service, drive.run, drive.before)
    for before, now in zip(drive.positions, positions(drive.service, drive.run)):
        assert now["first_index"] == 0 and now["next_index"] > before["low_index"]
        assert now["low_index"] <= now["issued_bytes"] / (64 * 1024) <= now["next_index"]


def test_goes_on_in_the_phase_in_which_it_was(outage):
    drive = outage["phases"]
    samples = check_goes_on(drive.service, drive.run, drive.before)
    assert {sample["phase"] for sample in samples[len(drive.before) :]} == {1}
    shown = drive.shown
    assert [phase["state"] for phase in shown["phases"]] == ["done", "running"]
    assert shown["phases"][1]["elapsed_s"] > sum(s["duration_ns"] for s in drive.before if s["phase"] == 1) / 1e9
    assert "1 'second' goes on" in details(shown, "phase")


def test_paused_run_is_paused_again(outage):
    drive = outage["paused"]
    shown = drive.service.wait_state(drive.run, "paused")
    assert len(details(shown, "resumed")) == 1
    assert drive.is_untouched()
    drive.service.cli("resume", drive.run)
    check_goes_on(drive.service, drive.run, drive.before)


@pytest.mark.parametrize(
    ("name", "why"),
    (
        ("replanned", f"has numjobs={os.cpu_count() + 1}, but its job comes to {os.cpu_count()} now"),
        ("formatted", "was put to another use: it holds a file system (ext4"),
        ("overwritten", "does not carry what the run has written"),
        ("ramp-overwritten", "does not carry what the run has written"),
        ("erased-discarded", "does not carry what the run has written"),
        ("erased-trimmed", "does not carry what the run has written"),
        ("overwritten-trims", "holds data that is not the run's where the run has trimmed it"),
        ("taken", "by another run of plateau"),
        ("replaced", "is gone: expected disk sequence number"),
    ),
)
def test_other_contents_are_refused_and_left_alone(outage, name, why):
    drive = outage[name]
    shown = drive.service.wait_state(drive.run, "refused")
    (refused,) = details(shown, "refused")
    assert why in refused
    assert drive.is_untouched()
    assert len(drive.service.samples(drive.run)) == len(drive.before)


@pytest.mark.parametrize(
    ("name", "proof"),
    (
        ("discarded", "256 of its blocks read back"),
        ("trimmed", "256 of its blocks read back"),
        ("only-trimmed", "the run had written nothing that it may not have trimmed since to it"),
    ),
)
def test_own_trims_and_discards_are_no_other_use(outage, name, proof):
    drive = outage[name]
    check_goes_on(drive.service, drive.run, drive.before)
    (resumed,) = details(drive.shown, "resumed")
    assert resumed == f"on {drive.device.path}: {proof}"


def test_other_disk_under_the_same_name_is_left_alone(outage):
    drive = outage["replaced"]
    drive.service.wait_state(drive.run, "refused")
    assert content_hash(drive.other) == drive.other_hash


def test_drive_in_use_is_waited_for(outage):
    drive = outage["opened"]
    waits = drive.service.wait_event(drive.run, "outage", 2)["detail"]
    assert drive.shown["state"] == "interrupted"
    assert "is tried again" in waits and f"process {os.getpid()}" in waits
    assert drive.is_untouched()
    drive.holder.close()
    check_goes_on(drive.service, drive.run, drive.before)


def test_run_that_waits_can_be_stopped(outage):
    drive = outage["given-up"]
    drive.service.wait_event(drive.run, "outage", 2)
    drive.service.cli("stop", drive.run)
    drive.service.wait_state(drive.run, "stopped")
    drive.holder.close()
    assert drive.is_untouched()


# --- other ends ----------------------------------------------------------------------------------


def test_killed_worker_is_replaced(own_service, loop):
    (run,) = own_service.start_run(RANDOM, loop(SIZE))
    before = own_service.wait_samples(run, 2)
    os.kill(own_service.workers()[0], signal.SIGKILL)
    own_service.wait_event(run, "resumed")
    check_goes_on(own_service, run, before)


def test_run_whose_workers_die_waits_for_a_user_and_says_so(own_service, loop):
    device = loop(SIZE)
    job = scratch_path("job") / "wait.fio"
    job.write_text(RANDOM)
    wait = own_service.cli.popen("start", job, "--device", device.path, "--confirm", device.confirm, "--wait")
    wait_for(lambda: own_service.cli.json("list")["runs"], 10, "the run")
    watch = own_service.cli.popen("watch", "1")
    own_service.wait_samples(1, 1)
    for n in (1, 2):
        os.kill(own_service.wait_workers(1)[0], signal.SIGKILL)
        own_service.wait_event(1, "resumed", n)
    os.kill(own_service.wait_workers(1)[0], signal.SIGKILL)

    waits_for = "'plateau resume 1': its worker has died 3 times without minutes of samples between"
    _, said = wait.communicate(timeout=20)
    assert (wait.returncode, said.splitlines()[-1]) == (1, f"plateau: run 1 is interrupted and waits for {waits_for}")
    _, said = watch.communicate(timeout=20)
    assert (watch.returncode, said) == (1, f"plateau: run 1 waits for {waits_for}\n")
    shown = own_service.row(1)
    assert shown["waits_for"] == waits_for
    assert details(shown, "outage")[-1] == f"it waits for {waits_for}"
    assert f"waits for    {waits_for}" in own_service.cli("show", 1).out.splitlines()

    own_service.cli("resume", 1)
    own_service.wait_event(1, "resumed", 3)
    assert own_service.row(1)["waits_for"] is None


def test_stopped_service_goes_on_exactly_there(own_service, loop):
    (run,) = own_service.start_run(RANDOM, loop(SIZE))
    own_service.wait_samples(run, 2)
    own_service.restart()
    before = own_service.samples(run)
    check_goes_on(own_service, run, before)
    own_service.cli("stop", run)
    own_service.wait_state(run, "stopped")
    now = position(own_service, run)
    assert now["first_index"] == 0
    assert now["next_index"] == now["next_write"] == sum(s["write_ios"] for s in own_service.samples(run))


def test_runs_as_long_as_planned(own_service, loop):
    (run,) = own_service.start_run("[p]\nrw=randwrite\nbs=4k\nruntime=5\ntime_based\n", loop(SIZE))
    own_service.wait_samples(run, 2)
    kill_service(own_service)
    own_service.start()
    shown = own_service.wait_state(run, "done")
    assert 5 <= shown["elapsed_s"] < 6  # it drains at the end


def test_writes_as_much_as_planned(own_service, nbd):
    """What is not recorded as written is written again, and of what is only that beside which a write was pending."""
    device = nbd(SIZE)
    device.set_rate("64M")  # bits a second
    (run,) = own_service.start_run("[s]\nrw=write\nbs=64k\niodepth=4\n", device)
    own_service.wait_samples(run, 2)
    kill_service(own_service)
    recorded = position(own_service, run)["issued_bytes"]
    device.set_rate("")
    own_service.start()
    shown = own_service.wait_state(run, "done")
    assert 0 < recorded < SIZE
    assert SIZE <= shown["phases"][0]["bytes"] <= SIZE + 2 * 4 * 64 * 1024  # a depth when it was recorded, and after


def test_drive_whose_writes_have_all_failed_is_taken_up(own_service, nbd):
    device = nbd(SIZE)
    device.fail()
    (run,) = own_service.start_run(RANDOM, device)
    before = own_service.wait_samples(run, 2)
    kill_service(own_service)
    own_service.start()
    assert own_service.wait_event(run, "resumed")["detail"] == f"on {device.path}: the run had written nothing to it"
    device.fail(False)
    check_goes_on(own_service, run, before)
    wait_for(lambda: own_service.samples(run)[-1]["write_ios"] > 0, 10, "writes that succeed")


def test_run_that_was_to_stop_stays_stopped(own_service, nbd):
    device = nbd(SIZE)
    (run,) = own_service.start_run(RANDOM, device)
    own_service.wait_samples(run, 1)
    device.hang()
    own_service.cli("stop", run)
    own_service.kill9()
    device.unhang()
    own_service.start()
    assert own_service.row(run)["state"] == "stopped"
    assert own_service.workers() == []


def test_watch_stays_with_a_run_that_goes_on(own_service, loop):
    device = loop(SIZE)
    (run,) = own_service.start_run("[p]\nrw=randwrite\nbs=4k\nruntime=3\ntime_based\n", device)
    own_service.wait_samples(run, 1)
    watch = own_service.cli.popen("watch", run, "--json")
    states = (json.loads(line)["state"] for line in watch.stdout)
    with open(device.path, "rb"):  # so that it waits for a moment
        os.kill(own_service.workers()[0], signal.SIGKILL)
        assert "interrupted" in states  # reads on until it is
    *_, last = states
    assert last == "done"
    watch.communicate()


def test_run_on_a_partition_goes_on_there(own_service, loop):
    needs.need_programs("sfdisk", "partx")
    disk = loop(SIZE, partscan=True)
    layout = "label: gpt\nsize=16M\nsize=16M\n"
    subprocess.run(["sfdisk", "--quiet", "--no-reread", disk.path], input=layout, text=True, check=True)
    subprocess.run(["partx", "--add", disk.path], check=False, capture_output=True)  # or the kernel has seen them
    partition = SimpleNamespace(path=f"{disk.path}p2", confirm=f"{disk.name}p2")
    wait_for(lambda: os.path.exists(partition.path), 5, partition.path)
    (run,) = own_service.start_run(RANDOM, partition)
    before = own_service.wait_samples(run, 2)
    kill_service(own_service)
    own_service.start()
    check_goes_on(own_service, run, before)
    assert own_service.row(run)["device"]["path"] == partition.path


def test_run_is_taken_up_at_once_when_asked(own_service, loop):
    device = loop(SIZE)
    (run,) = own_service.start_run(RANDOM, device)
    before = own_service.wait_samples(run, 1)
    kill_service(own_service)
    with open(device.path, "rb"):
        own_service.start()
        own_service.wait_event(run, "outage", 2)
    own_service.cli("resume", run)
    check_goes_on(own_service, run, before)
