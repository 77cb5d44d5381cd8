# SPDX-License-Identifier: MIT
"""plateaud.conf: devices that are never to be tortured, and files that are none."""

import os
import subprocess

import pytest
from harness import MIB, content_hash, scratch_path

JOB = "[p]\nrw=randwrite\nbs=4k\ntime_based\nruntime=60\n"


def write(text: str):
    path = scratch_path("conf") / "plateaud.conf"
    path.write_text(text)
    return path


def refuse(service, *args):
    done = subprocess.run([service.program, "--bus", "session", "--state-directory", service.state, *args],
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env=service.environment)  # fmt: skip
    assert done.returncode == 2, done
    assert not service.state.exists()
    return done.stderr


def deny_by_path(device):
    return device.path


def deny_by_pattern(device):
    return device.path[:-1] + "?"


def deny_by_link(device):
    link = scratch_path("link") / "drive"
    link.symlink_to(device.path)
    return f"/dev/../{link.relative_to('/')}"


@pytest.mark.parametrize("pattern", (deny_by_path, deny_by_pattern, deny_by_link))
def test_denied_device_is_refused_and_untouched(make_service, loop, pattern):
    device = loop(16 * MIB)
    before = content_hash(device.file)
    path = write(f"[devices]\ndeny=no such drive\ndeny={pattern(device)}\n")
    service = make_service(start=False)
    service.start(True, "--config", str(path))
    result = service.start_run(JOB, device, check=3)
    assert f"denied by deny={pattern(device)[:8]}" in result.json["error"]["message"], result
    assert content_hash(device.file) == before


def test_devices_tells_the_same(make_service, loop):
    device = loop(16 * MIB)
    path = write(f"[devices]\ndeny={device.path}\n")
    service = make_service(start=False, PLATEAU_CONFIG=str(path))
    service.start()
    said = service.start_run(JOB, device, check=3).json["error"]["message"]
    devices = service.cli.json("devices", env={"PLATEAU_CONFIG": str(path)})["devices"]
    (shown,) = [d for d in devices if d["path"] == device.path]
    assert not shown["eligible"] and not shown["erasable"]
    (reason,) = [r for r in shown["reasons"] if "denied" in r]
    assert reason in said


def test_devices_tells_that_the_configuration_is_of_no_use(cli, loop):
    device, path = loop(16 * MIB), write("[devices]\ndeny\n")
    devices = cli.json("devices", env={"PLATEAU_CONFIG": str(path)})["devices"]
    (shown,) = [d for d in devices if d["path"] == device.path]
    assert not shown["eligible"] and [r for r in shown["reasons"] if f"{path}:2: " in r]


def test_other_devices_run(make_service, loop):
    denied, device = loop(16 * MIB), loop(16 * MIB)
    service = make_service(start=False)
    service.start(True, "--config", str(write(f"[devices]\ndeny={denied.path}\n")))
    (run,) = service.start_run(JOB, device)
    service.wait_samples(run, 1)
    service.cli("stop", run)
    service.wait_state(run, "stopped")


@pytest.mark.parametrize("text, line", (("[devices]\n\ndeny=\n", 3), ("[devices]\ndeny=/etc/x\n", 2), ("[dev\n", 1),
                                        ("[devices]\ndenny=sda\n", 2)))  # fmt: skip
def test_wrong_file_is_told_by_its_line(make_service, text, line):
    path = write(text)
    assert f"{path}:{line}: " in refuse(make_service(start=False), "--config", path)


def test_file_that_cannot_be_read_is_refused(make_service):
    service = make_service(start=False)
    assert "/nonexistent cannot be read" in refuse(service, "--config", "/nonexistent")
    assert "is no regular file" in refuse(service, "--config", os.path.dirname(write("")))
