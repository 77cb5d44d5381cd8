# SPDX-License-Identifier: MIT
"""What a run has written is read back and verified: nothing is wrong on a drive that keeps its data, whatever happens
to the run meanwhile; and whatever is put in the place of it is found as what it is."""

import os
import re
import signal
import sqlite3

import needs
import pytest
from harness import MIB, is_gone, wait_for

BLOCK = 4096
SIZE = 32 * MIB
REGION = 16 * MIB

# All is written once, then much of it again, in random order at depth 64. Between them, and before it is read, there is
# time to look at the file that the device lies on.
FILL = f"[fill]\nrw=write\nbs=64k\niodepth=4\nsize={REGION}\nverify=crc32c\ndo_verify=0\n"
LOOK = "[{name}]\naction=idle\nruntime=600\n"
TORTURE = f"[torture]\nrw=randwrite\nbs=4k\niodepth=64\nsize={REGION}\nio_size=48m\nverify=crc32c\ndo_verify=0\n"
CHECK = f"[check]\nrw=read\nbs=128k\niodepth=8\nsize={REGION}\nverify=crc32c\n"


def verified(shown, name):
    (phase,) = [phase for phase in shown["phases"] if phase["name"] == name]
    return phase["verify"]


def errors_by_kind(found):
    return {kind: found[kind] for kind in ("corrupt", "misplaced", "torn", "lost") if found[kind] > 0}


def check_is_healthy(shown, name, checked_min=1):
    found = verified(shown, name)
    assert found["errors"] == 0 and found["findings"] == [], found
    assert found["checked_bytes"] >= checked_min


# --- what is put in the place of what was written ------------------------------------------------


def pause_in(service, run, phase, action):
    """Pauses the run in an idle phase of a second or so, and does something to its device meanwhile."""
    wait_for(lambda: service.row(run)["phase"] == phase, 30, f"phase {phase}", interval=0.02)
    service.cli("pause", run)
    service.wait_state(run, "paused")
    assert service.row(run)["phase"] == phase
    result = action()
    service.cli("resume", run)
    return result


class Faults:
    """A file and what it held before the torture: puts a fault of each kind into blocks that were written since."""

    def __init__(self, file):
        self.file = file
        self.old = file.read_bytes()

    def inject(self):
        new = self.file.read_bytes()
        blocks = [(at, new[at : at + BLOCK]) for at in range(0, REGION, BLOCK)]
        changed = [at for at, block in blocks if block != self.old[at : at + BLOCK] and any(block)]  # nor trimmed
        assert len(changed) > 1000
        # Apart from each other, so that none is told as a part of another's.
        bit, zeros, copy, torn, lost = changed[10], changed[200], changed[400], changed[600], changed[800]
        source = changed[300]
        flipped = bytes([new[bit + 2000] ^ 4])
        with open(self.file, "r+b") as f:
            for at, data in (
                (bit + 2000, flipped),
                (zeros, bytes(BLOCK)),
                (copy, new[source : source + BLOCK]),
                (torn + BLOCK // 2, self.old[torn + BLOCK // 2 : torn + BLOCK]),
                (lost, self.old[lost : lost + BLOCK]),
            ):
                f.seek(at)
                f.write(data)
        return [
            ("corrupt", bit + 1536, 512, "damaged"),
            ("corrupt", zeros, BLOCK, "zeros"),
            ("misplaced", copy, BLOCK, f"belongs to offset {source}"),
            ("torn", torn + BLOCK // 2, BLOCK // 2, "phase 0"),
            ("lost", lost, BLOCK, "phase 0"),
        ]


def run_with_faults(service, device, options=""):
    """Returns the run's `show` at its end, and what was put there."""
    looks = [LOOK.format(name=name).replace("600", "2") for name in ("look", "inject")]
    job = f"[global]\n{options}\n" + FILL + looks[0] + TORTURE + looks[1] + CHECK
    (run,) = service.start_run(job, device)
    faults = pause_in(service, run, "look", lambda: Faults(device.file))
    injected = pause_in(service, run, "inject", faults.inject)
    return service.wait_state(run, "done", "failed", timeout=60), injected


def test_whatever_is_put_there_is_found_as_what_it_is(own_service, loop):
    shown, injected = run_with_faults(own_service, loop(SIZE))
    found = verified(shown, "check")
    assert errors_by_kind(found) == {"corrupt": 2, "misplaced": 1, "torn": 1, "lost": 1}
    assert found["checked_bytes"] == REGION
    told = {finding["offset"]: finding for finding in found["findings"]}
    assert sorted(told) == sorted(offset for _, offset, _, _ in injected)
    for kind, offset, length, text in injected:
        assert (told[offset]["kind"], told[offset]["bytes"]) == (kind, length)
        assert text in told[offset]["detail"]

    # No silent success: the run has failed, with a reason, and events tell each.
    assert shown["state"] == "failed"
    last = shown["events"][-1]
    assert last["kind"] == "finished" and "5 blocks were read back not as written (EILSEQ)" in last["detail"]
    assert len([event for event in shown["events"] if event["kind"] == "error"]) == len(injected)
    text = own_service.cli("show", shown["run"]).out
    assert text.count("misplaced at offset") == 1 and "CORRUPT" in text
    verdict = own_service.cli("verdict", shown["run"], "--json", check=1).json
    (reason,) = [r for r in verdict["reasons"] if r["criterion"] == "verify_errors_max"]
    assert (reason["measured"], reason["result"]) == (5, "fail")
    (reason,) = [r for r in verdict["reasons"] if r["criterion"] == "run"]
    assert reason["result"] == "fail" and reason["reason"] == last["detail"]


def test_a_job_that_continues_on_errors_of_verification_is_done(own_service, loop):
    shown, injected = run_with_faults(own_service, loop(SIZE), "continue_on_error=verify")
    assert shown["state"] == "done"
    assert verified(shown, "check")["errors"] == len(injected)


def test_a_job_that_does_not_continue_ends_with_the_first(own_service, loop):
    shown, injected = run_with_faults(own_service, loop(SIZE), "continue_on_error=none")
    first = min(offset for _, offset, _, _ in injected)
    assert shown["state"] == "failed"
    (finished,) = [event["detail"] for event in shown["events"] if event["kind"] == "finished"]
    assert f"at offset {first // (128 * 1024) * (128 * 1024)} is not what was written (EILSEQ)" in finished
    assert verified(shown, "check")["checked_bytes"] < REGION


# --- a drive that keeps its data -----------------------------------------------------------------


@pytest.mark.parametrize(
    "job",
    [
        f"[w]\nrw=randwrite\nbs=4k\niodepth=64\nsize={REGION}\nio_size=80m\n",
        "[w]\nrw=randrw\nbs=4k,8k\nrwmixread=30\niodepth=16\nsize=5m\noffset=1m\nio_size=30m\nfsync=100\n",
        "[w]\nrw=randwrite\nbssplit=512/20:4k/50:64k/30\niodepth=32\nsize=8m\nio_size=24m\ndedupe_percentage=30\n",
        "[w]\nrw=write\nbs=12k\niodepth=4\nnumjobs=3\noffset_increment=2m\nsize=1900k\nloops=3\n",
        "[w]\nrw=randwrite\nbs=4k\nnorandommap=0\niodepth=16\nsize=8m\nloops=3\nbuffer_compress_percentage=50\n",
        "[w]\nrw=randwrite\nbs=4k\nrandom_distribution=zipf:1.2\niodepth=32\nsize=8m\nio_size=32m\n",
        "[w]\nrw=randwrite\nbs=4k\nrandom_distribution=zoned:60/10:40/90\niodepth=32\nsize=8m\nio_size=32m\n",
        "[w]\nrw=randwrite\nbs=4k\nworkers=2\niodepth=32\nsize=8m\nio_size=32m\nrate_iops=40000\n",
        "[old]\nrw=write\nbs=64k\nsize=8m\nzero_buffers\nverify=0\n[t]\nrw=randtrim\nbs=4k\nsize=8m\nnumber_ios=200\n"
        "[w]\nrw=randwrite\nbs=4k\niodepth=32\nsize=8m\nnumber_ios=1000\n",
    ],
    ids=["random", "mixed", "split", "streams", "map", "zipf", "zoned", "workers", "after-zeros-and-trims"],
)
def test_a_healthy_drive_has_no_errors(own_service, loop, job):
    shown = own_service.run_job("[global]\nverify=md5\n" + job, loop(SIZE))
    assert [phase["name"] for phase in shown["phases"]][-1] == "w verify"
    check_is_healthy(shown, "w verify")
    assert shown["phases"][-1]["write_ios"] == 0 and shown["phases"][-1]["state"] == "done"
    verdict = own_service.cli("verdict", shown["run"], "--json", check=False).json
    (reason,) = [r for r in verdict["reasons"] if r["criterion"] == "verify_errors_max"]
    assert reason["result"] == "pass"


def test_it_needs_no_more_memory_than_it_is_given(own_service, loop):
    """Many windows: 64 KiB hold what is to be known of 2 MiB of blocks of 512 bytes."""
    job = "[global]\nverify_memory=64k\nverify=md5\n[w]\nrw=randwrite\nbs=512\niodepth=64\nsize=24m\nio_size=32m\n"
    shown = own_service.run_job(job, loop(SIZE))
    check_is_healthy(shown, "w verify", 10 * MIB)
    assert shown["phases"][1]["read_bytes"] == 24 * MIB


def test_completions_in_random_order(own_service, ssd):
    """Also where many writes go to few blocks, so that some are outstanding to the same one."""
    job = "[w]\nrw=randwrite\nbs=4k\niodepth=64\nsize=512k\nio_size=12m\nverify=crc32c\n"
    shown = own_service.run_job(job, ssd(16 * MIB, iops=4000, shuffle=5000))
    check_is_healthy(shown, "w verify", 512 * 1024)


def test_burn_in_verifies_all_of_the_surface_twice(own_service, loop):
    text, n = re.subn(r"^runtime=.*$", "runtime=2s", own_service.cli("presets", "burn-in").out, flags=re.MULTILINE)
    assert n == 1
    shown = own_service.run_job(text, loop(SIZE), name="burn-in")
    names = ["surface", "surface verify", "torture", "torture verify"]
    assert [phase["name"] for phase in shown["phases"]] == names
    for name in names[1::2]:
        check_is_healthy(shown, name, SIZE)
    assert own_service.cli.json("verdict", shown["run"], check=False)["verdict"] in ("pass", "inconclusive")


def test_writes_that_fail_may_be_there_or_not(own_service, nbd):
    """Of each four one fails, some of them over what was written before; none of that is called wrong."""
    needs.need_nbd()
    device = nbd(16 * MIB, error_rate="25%")
    device.fail()
    job = "[w]\nrw=randwrite\nbs=4k\niodepth=16\nsize=2m\nio_size=8m\nverify=crc32c\n"
    shown = own_service.run_job(job, device)
    assert shown["phases"][0]["errors"] > 100
    check_is_healthy(shown, "w verify", MIB // 2)


# --- whatever happens to the run -----------------------------------------------------------------


def histories(service, run):
    database = sqlite3.connect(service.db)
    try:
        n_maybes = database.execute("SELECT count(*) FROM maybes WHERE run = ?", (run,)).fetchone()[0]
        reach = database.execute("SELECT max(reach_index) FROM histories WHERE run = ?", (run,)).fetchone()[0]
        return n_maybes, reach
    finally:
        database.close()


LONG = f"[w]\nrw={{rw}}\nbs=4k\niodepth=64\nsize={REGION}\ntime_based\nruntime=4\nverify=crc32c\nrate_iops=20000\n"


LIMITED = f"[w]\nrw={{rw}}\nbs=4k\niodepth=64\nsize={REGION}\nio_size=64m\nverify=crc32c\nrate_iops=2500\n"


@pytest.mark.parametrize("job, rw", [(LONG, "randwrite"), (LIMITED, "randwrite"), (LONG, "write"),
                                     (LONG, "randwrite\nnorandommap=0")],
                         ids=["random", "limited", "sequential", "map"])  # fmt: skip
def test_killed_and_taken_up_again(own_service, loop, job, rw):
    service = own_service
    (run,) = service.start_run(job.format(rw=rw), loop(SIZE))
    service.wait_samples(run, 1)
    service.cli("pause", run)
    service.wait_state(run, "paused")
    service.cli("resume", run)
    service.wait_state(run, "running")
    os.kill(service.wait_workers(1)[0], signal.SIGKILL)
    service.wait_event(run, "resumed", 2)
    service.wait_samples(run, len(service.samples(run)) + 2)
    for worker in service.kill9():
        wait_for(lambda pid=worker: is_gone(pid), 10, "the worker's end")
    service.start()
    service.wait_event(run, "resumed", 3)
    service.restart()
    shown = service.wait_state(run, "done", "failed", "refused", timeout=60)
    assert shown["state"] == "done", shown["events"]
    check_is_healthy(shown, "w verify", REGION // 2)
    n_maybes, reach = histories(service, run)
    assert reach > 0
    assert n_maybes == (2 if rw == "randwrite" else 0)  # one for each death


# Random trims that a dead process may have done are gone through one by one: on a large drive for seconds.
TRIMS = "".join(f"[t{i}]\nrw=randtrim\nbs=512\ntime_based\nruntime=100ms\n" for i in range(4))


def test_what_could_not_be_verified_is_no_silent_success(own_service, loop):
    service = own_service
    job = f"[w]\nrw=write\nbs=16k\nsize=2m\nverify=md5\ndo_verify=0\nrate_iops=60\n{TRIMS}"
    job += "[check]\nrw=read\nbs=16k\nsize=2m\nverify=md5\nruntime=2\n"
    (run,) = service.start_run(job, loop(64 * 1024 * MIB))
    service.wait_samples(run, 1)
    service.kill9()
    service.start()
    shown = service.wait_state(run, "done", "failed", "refused", timeout=60)
    assert shown["state"] == "done", shown["events"]
    found = verified(shown, "check")
    assert (found["checked_bytes"], found["asked_bytes"]) == (0, 2 * MIB)
    told = [event["detail"] for event in shown["events"]]
    assert "5 'check' works out what should lie on the drive before it reads on" in told
    assert "5 'check' is done: 0 B of 2 MiB were verified" in told
    verdict = service.cli("verdict", run, "--json", check=False).json
    (reason,) = [r for r in verdict["reasons"] if r["criterion"] == "verify_errors_max"]
    assert reason["result"] == "inconclusive" and "checked nothing" in reason["reason"]


def test_a_death_leaves_in_doubt_what_the_limit_lets_it_reach(own_service, loop):
    service, device = own_service, loop(SIZE)
    looks = [LOOK.format(name=name).replace("600", "2") for name in ("look", "inject")]
    trim = f"[trim]\nrw=randtrim\nbs=4k\nsize={REGION}\nnumber_ios=40\nrate_iops=20\n"
    (run,) = service.start_run(FILL + looks[0] + TORTURE + trim + looks[1] + CHECK, device)
    faults = pause_in(service, run, "look", lambda: Faults(device.file))
    wait_for(lambda: service.row(run)["phase"] == "trim", 30, "trims", interval=0.02)
    wait_for(lambda: service.cli.json("show", run)["phases"][3]["ios"] > 0, 10, "a trim")
    os.kill(service.wait_workers(1)[0], signal.SIGKILL)
    service.wait_event(run, "resumed", 2)

    def inject():
        service.restart()  # which forgets no limit
        service.wait_state(run, "paused")
        return faults.inject()

    injected = pause_in(service, run, "inject", inject)
    found = verified(service.wait_state(run, "done", "failed", timeout=60), "check")
    assert errors_by_kind(found) == {"corrupt": 2, "misplaced": 1, "torn": 1, "lost": 1}
    assert sorted(finding["offset"] for finding in found["findings"]) == sorted(at for _, at, _, _ in injected)
    assert REGION - 2 * 40 * BLOCK <= found["checked_bytes"] < REGION


def test_a_discard_after_a_death_is_worked_out_at_once(own_service, loop):
    """What the dead process may have done is minutes of a fast drive, but of a small region no more than all of it."""
    service = own_service
    job = "[w]\nrw=write\nbs=16k\nsize=2m\nverify=md5\ndo_verify=0\nrate_iops=60\n"
    job += "[discard]\naction=discard\noffset=1m\nsize=1m\n[check]\nrw=read\nbs=16k\nsize=2m\nverify=md5\nruntime=10\n"
    (run,) = service.start_run(job, loop(SIZE))
    service.wait_samples(run, 1)
    service.kill9()
    service.start()
    shown = service.wait_state(run, "done", "failed", "refused", timeout=60)
    found = verified(shown, "check")
    assert (found["errors"], found["checked_bytes"], found["asked_bytes"]) == (0, MIB, 2 * MIB)
    assert "2 'check' is done: 1 MiB of 2 MiB were verified" in [event["detail"] for event in shown["events"]]
    verdict = service.cli("verdict", run, "--json", check=False).json
    (reason,) = [r for r in verdict["reasons"] if r["criterion"] == "verify_errors_max"]
    assert reason["result"] == "pass" and "the part that was verified" in reason["reason"]


# --- how much of it ------------------------------------------------------------------------------


def judged(service, run):
    (reason,) = [r for r in service.cli("verdict", run, "--json", check=False).json["reasons"]
                 if r["criterion"] == "verify_errors_max"]  # fmt: skip
    return reason["result"], reason["reason"]


def test_a_read_back_that_the_run_did_not_come_to_is_no_pass(own_service, loop):
    service = own_service
    job = "[global]\nverify=md5\nrw=write\nbs=64k\n[surface]\nsize=2m\n[torture]\nrate_iops=20\nsize=16m\n"
    (run,) = service.start_run(job, loop(SIZE))
    wait_for(lambda: service.row(run)["phase"] == "torture", 30, "the second phase", interval=0.02)
    service.cli("stop", run)
    shown = service.wait_state(run, "stopped")
    found = [phase["verify"] for phase in shown["phases"]]
    assert found[0] is None and found[2] is None
    assert (found[1]["checked_bytes"], found[1]["asked_bytes"]) == (2 * MIB, 2 * MIB)
    assert (found[3]["checked_bytes"], found[3]["asked_bytes"], found[3]["errors"]) == (0, 16 * MIB, 0)
    result, text = judged(service, run)
    assert result == "inconclusive" and "has checked nothing" in text


@pytest.mark.parametrize(
    "check,says",
    [
        ("rw=read\n", "blocks of the whole run"),
        ("rw=read\nnumber_ios=32\n", "blocks of the whole run"),
        ("rw=read\nnumjobs=4\nnumber_ios=16\n", "need not be all"),
        ("rw=randread\nnorandommap=1\n", "need not be all"),
        ("rw=read\nrate_iops=40\nruntime=1\n", "the part that was verified"),
    ],
    ids=["all", "asked", "streams", "random", "part"],
)
def test_all_is_told_of_what_was_read_in_order_to_its_end(own_service, loop, check, says):
    """Four streams of one region, each of which ends a quarter into it, read as much as the whole of it."""
    job = f"[global]\nverify=md5\nbs=64k\nsize=4m\n[w]\nrw=write\ndo_verify=0\n[check]\n{check}"
    shown = own_service.run_job(job, loop(SIZE))
    check_is_healthy(shown, "check")
    result, text = judged(own_service, shown["run"])
    assert result == "pass" and says in text
    (ended,) = [event["detail"] for event in shown["events"] if event["detail"].startswith("1 'check' is done")]
    assert (ended == "1 'check' is done") == (says == "blocks of the whole run")
