# SPDX-License-Identifier: MIT
"""start, pause, resume and stop against the real service, on loop devices of our own."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import termios
import threading
import time

import harness
import needs
import pytest

JOB = "[burn]\nrw=randwrite\nbs=4k\niodepth=4\ntime_based\nruntime="


@pytest.fixture
def short(job):
    return job(JOB + "1\n")


@pytest.fixture
def long(job):
    return job(JOB + "600\n")


def test_start_tells_the_run(service, loop, short):
    device = loop()
    document = service.cli.json("start", short, "--device", device.path, "--confirm", device.confirm)
    assert document == {"run": document["run"], "runs": [document["run"]]}
    assert service.wait_state(document["run"], "done")["device"]["path"] == device.path


def test_start_as_text(service, loop, short):
    device = loop()
    result = service.cli("start", "--device", device.path, short, "--confirm", device.confirm, "--wait")
    started, ended = result.out.splitlines()
    assert started.startswith("run ") and f" started on {device.path} (" in started and "64 MiB" in started
    assert " done after 1.0 s" in ended
    assert "norandommap" in result.err


def test_start_on_several_devices(service, loop, long):
    a, b = loop(), loop()
    args = ["start", long, "--device", a.path, b.path, "--confirm", a.confirm, b.confirm]
    document = service.cli.json(*args)
    assert len(document["runs"]) == 2 and document["run"] == document["runs"][0]
    rows = {run["run"]: run["device"]["path"] for run in service.cli.json("list")["runs"]}
    assert [rows[run] for run in document["runs"]] == [a.path, b.path]
    for run in document["runs"]:
        service.cli("stop", run)


def test_a_note_of_the_job_is_told_once(service, loop, short):
    a, b = loop(), loop()
    args = ["start", short, "--device", a.path, b.path, "--confirm", a.confirm, b.confirm, "--wait"]
    assert service.cli(*args).err.count("norandommap=1") == 1


def test_a_relative_path_is_the_callers(service, loop, short):
    device = loop()
    args = ["start", short, "--device", f"./{device.name}", "--confirm", device.confirm, "--wait"]
    assert device.path in service.cli(*args, cwd="/dev").out


def test_a_label_with_bytes_that_are_no_utf8(service, loop, short):
    device = loop()
    args = ["start", short, "--device", device.path, "--confirm", device.confirm, "--label", "a\udcffb"]
    document = service.cli.json(*args)
    assert service.row(document["run"])["label"] == "a\ufffdb"
    service.wait_state(document["run"], "done")


def test_a_script_must_confirm(service, loop, short):
    device = loop()
    before = harness.content_hash(device.file)
    result = service.cli("start", short, "--device", device.path, check=3)
    assert f"--confirm {device.confirm}" in result.err
    assert service.cli("start", short, "--device", device.path, "--json", check=3).json["error"]["code"] == "refused"
    assert harness.content_hash(device.file) == before


def test_what_a_device_carries_is_erased_only_when_asked(service, loop, short):
    device = loop()
    subprocess.run(["mkswap", "-q", device.path], check=True)
    args = ["start", short, "--device", device.path, "--confirm", device.confirm]
    before = harness.content_hash(device.file)
    assert "--erase-existing" in service.cli(*args, check=3).err
    assert harness.content_hash(device.file) == before
    service.cli(*args, "--erase-existing", "--wait")


def test_a_device_name_that_is_no_utf8(service, short):
    result = service.cli("start", short, "--device", "/dev/no\udcffthing", "--confirm", "x", "--json", check=6)
    assert result.json["error"]["code"] == "not-found"


def test_a_bad_job_is_told_before_the_service_is_asked(cli, job):
    result = cli("start", job("[a]\nrw=sideways\n"), "--device", "/dev/null", check=2)
    assert ":2: " in result.err


def test_no_device(cli, short):
    assert "--device" in cli("start", short, check=2).err
    assert "--device is empty" in cli("start", short, "--device", "", check=2).err


def test_a_device_in_the_place_of_the_job(cli, loop, short):
    device = loop()
    assert "block device" in cli("start", device.path, "--device", short, check=2).err


def test_a_label_that_is_too_long(cli, short):
    args = ["start", short, "--device", "/dev/null", "--confirm", "x", "--label"]
    assert "at most 256" in cli(*args, "x" * 257, check=2).err
    cli(*args, "x" * 256, check=5)


def test_a_bare_name_of_a_device(cli, short):
    for args in (["start", short, "--device", "null"], ["devices", "null"]):
        assert "did you mean /dev/null?" in cli(*args, check=6).err


def test_a_bus_that_turns_everybody_away_is_told_alike(cli, short, tmp_path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "bus"))
        listener.listen()

        def turn_away():
            with contextlib.suppress(OSError):
                while True:
                    with listener.accept()[0] as client:
                        client.recv(4096)
                        client.sendall(b"REJECTED EXTERNAL\r\n")

        thread = threading.Thread(target=turn_away)
        thread.start()
        cli.environment |= {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={tmp_path}/bus", "PLATEAU_BUS": "system"}
        errors = {cli(verb, "1", check=5).err for verb in ("pause", "resume", "stop")}
        errors.add(cli("start", short, "--device", "/dev/null", "--confirm", "x", check=5).err)
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    (error,) = errors
    assert "plateaud cannot be reached on the system bus: " in error


@pytest.mark.parametrize("args", [["pause", "1"], ["resume", "last"], ["stop", "1"]])
def test_no_service(cli, args):
    result = cli(*args, "--json", check=5)
    assert result.json["error"]["code"] == "unreachable" and "plateaud" in result.json["error"]["message"]
    assert "start it with" in cli(*args, check=5).err


def test_a_bus_without_the_service(short):
    needs.need_service()
    with harness.PrivateBus() as bus:
        cli = harness.Cli(bus)
        for args in (["stop", "1"], ["start", short, "--device", "/dev/null", "--confirm", "x"]):
            assert cli(*args, "--json", check=5).json["error"]["code"] == "unreachable"


def test_start_without_a_service(cli, short):
    cli("start", short, "--device", "/dev/null", "--confirm", "x", check=5)


@pytest.mark.parametrize("verb", ["pause", "resume", "stop"])
def test_control_of_no_run(service, verb):
    assert service.cli(verb, "4000000", "--json", check=6).json["error"]["code"] == "not-found"
    service.cli(verb, "x", check=2)


def test_pause_resume_stop(service, loop, long):
    (run,) = service.start_run(JOB + "600\n", loop())
    assert service.cli("pause", run).out == f"run {run} is paused\n"
    assert service.row(run)["state"] == "paused"
    assert service.cli.json("resume", run)["state"] == "running"
    assert service.cli("stop", "last").out == f"run {run} is stopped\n"
    assert service.cli.json("stop", run) == {"run": run, "state": "stopped", "in_flight": 0}
    assert service.cli("pause", run, "--json", check=8).json["error"]["code"] == "failed"


def test_stop_of_a_drive_that_hangs_tells_what_is_pending(service, nbd):
    device = nbd(64 * harness.MIB)
    (run,) = service.start_run(JOB + "600\n", device)
    service.wait_samples(run, 2)
    device.hang()
    out = service.cli("stop", run).out
    assert out.startswith(f"run {run} is stopping: ") and out.endswith(" I/Os are still pending\n")
    device.unhang()
    service.wait_state(run, "stopped")


def run_on(service, device):
    """The number of the run on this device, as soon as it runs."""

    def found():
        rows = service.cli.json("list")["runs"]
        return next((row["run"] for row in rows if row["device"]["path"] == device.path and row["state"] == "running"),
                    None)  # fmt: skip

    return harness.wait_for(found, what=f"a run on {device.path}")


def test_wait_of_a_run_that_is_stopped(service, loop, long):
    device = loop()
    process = service.cli.popen("start", long, "--device", device.path, "--confirm", device.confirm, "--wait")
    run = int(process.stdout.readline().split()[1])
    service.cli("stop", run)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert f"run {run} was stopped after " in out and "did not come to its end" in out


def test_wait_as_json_tells_the_states_at_the_end(service, loop, job):
    short, long = job(JOB + "1\n", "short.fio"), job(JOB + "600\n", "long.fio")
    a, b = loop(), loop()
    args = ["start", short, "--device", a.path, "--confirm", a.confirm, "--wait"]
    document = service.cli.json(*args)
    run = document["run"]
    assert document == {"run": run, "runs": [run], "states": ["done"]}

    args = ["start", long, "--device", a.path, b.path, "--confirm", a.confirm, b.confirm, "--wait", "--json"]
    process = service.cli.popen(*args)
    runs = [run_on(service, device) for device in (a, b)]
    for run in runs:
        service.cli("stop", run)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(out) == {"run": runs[0], "runs": runs, "states": ["stopped", "stopped"]}


def test_wait_of_a_run_whose_worker_dies(service, loop, job):
    device, short = loop(), job(JOB + "2\n", "short.fio")
    process = service.cli.popen("start", short, "--device", device.path, "--confirm", device.confirm, "--wait")
    run = int(process.stdout.readline().split()[1])
    (worker,) = service.wait_workers(1)
    os.kill(worker, signal.SIGKILL)
    service.wait_event(run, "outage")
    out, _ = process.communicate()
    assert process.returncode == 0
    assert f"run {run} done after 2" in out


def test_wait_when_the_service_dies(own_service, loop, long):
    device = loop()
    process = own_service.cli.popen("start", long, "--device", device.path, "--confirm", device.confirm, "--wait")
    assert process.stdout.readline().startswith("run ")
    own_service.kill9()
    assert process.wait() == 5
    assert "the service went away; 'plateau list' shows what became of run 1" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()


def test_ctrl_c_while_waiting_leaves_the_run_alone(service, loop, long):
    device = loop()
    process = service.cli.popen("start", long, "--device", device.path, "--confirm", device.confirm, "--wait", "--json")
    run = run_on(service, device)
    status = harness.Path(f"/proc/{process.pid}/status")  # both signals blocked: it waits for them by a descriptor
    harness.wait_for(lambda: "SigBlk:\t0000000000004002" in status.read_text(), what="waiting for Ctrl-C")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130 and json.loads(out)["states"] == ["running"]
    assert f"run {run} goes on" in err
    assert service.row(run)["state"] == "running"
    service.cli("stop", run)


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, cli, *args, columns=80):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            termios.tcsetwinsize(0, (24, columns))
            os.execve(cli.program, [str(cli.program), *map(str, args)], cli.environment)
        self.seen = ""

    def read_until(self, text):
        deadline = time.monotonic() + 30 * harness.PATIENCE
        while text not in self.seen:
            left = max(0, deadline - time.monotonic())
            assert select.select([self.fd], [], [], left)[0], f"{text!r} is not in {self.seen!r}"
            try:
                data = os.read(self.fd, 4096)
            except OSError:  # the other side is closed
                data = b""
            if not data:
                assert text == "", self.seen
                break
            self.seen += data.decode()
        return self.seen

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        try:
            while data := os.read(self.fd, 4096):
                self.seen += data.decode()
        except OSError:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_terminal_is_asked(service, loop, short):
    device = loop()
    terminal = Terminal(service.cli, "start", short, "--device", device.path, "--wait")
    shown = terminal.read_until("Type ")
    assert device.path in shown and "64 MiB" in shown and "OVERWRITTEN" in shown
    terminal.read_until(f"Type {device.confirm} to go on: ")
    terminal.type(f"{device.confirm}\n")
    assert terminal.end() == 0
    assert "done after" in terminal.seen


def test_a_terminal_shows_what_would_be_lost(service, loop, short):
    device = loop()
    subprocess.run(["mkswap", "-q", device.path], check=True)
    terminal = Terminal(service.cli, "start", short, "--device", device.path, "--erase-existing")
    assert "swap" in terminal.read_until("to go on: ")
    terminal.type("\x04")
    assert terminal.end() == 3
    assert "not confirmed" in terminal.seen


def test_a_terminal_is_not_asked_for_what_will_be_refused(service, loop, short):
    carries, used = loop(), loop()
    subprocess.run(["mkswap", "-q", carries.path], check=True)
    terminal = Terminal(service.cli, "start", short, "--device", carries.path)
    assert "Type" not in terminal.read_until("plateau: ")
    assert terminal.end() == 3
    assert "--erase-existing" in terminal.seen and "Type" not in terminal.seen

    with open(used.path, "rb"):
        terminal = Terminal(service.cli, "start", short, "--device", used.path)
        assert "Type" not in terminal.read_until("plateau: ")
        assert terminal.end() == 3
    assert f"process {os.getpid()}" in terminal.seen and "Type" not in terminal.seen


def test_each_of_several_runs_has_a_line_of_the_terminal(service, loop, job):
    a, b = loop(), loop()
    path = job("[first]\nrw=randwrite\nsize=4k\n[second]\nrw=randwrite\ntime_based\nruntime=600\n")
    args = ["start", path, "--device", a.path, b.path, "--confirm", a.confirm, b.confirm, "--wait"]
    terminal = Terminal(service.cli, *args, columns=60)
    runs = [run_on(service, device) for device in (a, b)]
    for run, device in zip(runs, (a, b), strict=True):
        terminal.read_until(f"run {run} running on {device.name}, second (2 of 2), ")
    narrow = Terminal(service.cli, "watch", runs[0], columns=56)
    narrow.read_until("running, second (2 of 2), ")
    for run in runs:
        service.cli("stop", run)
    assert narrow.end() == 0 and "second (1 of 2)" not in narrow.seen
    assert "…" not in narrow.seen and "..." not in narrow.seen
    assert terminal.end() == 0
    lines = re.split(r"[\r\n]+", re.sub("\x1b\\[[KA]", "", terminal.seen))
    shown = [line for line in lines if " running on " in line]
    assert shown and max(map(len, shown)) < 60 and "…" not in "".join(shown) and "..." not in "".join(shown)


def test_another_answer_starts_nothing(service, loop, short):
    device = loop()
    before = service.cli.json("list")["runs"]
    terminal = Terminal(service.cli, "start", short, "--device", device.path)
    terminal.read_until("to go on: ")
    terminal.type("yes\n")
    assert terminal.end() == 3
    assert "nothing was started" in terminal.seen
    assert service.cli.json("list")["runs"] == before
