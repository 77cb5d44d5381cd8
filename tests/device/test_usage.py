# SPDX-License-Identifier: MIT
"""Uses of a device that this kernel may not be able to make: what they would show in /sys is put there, for the eyes of
the command alone."""

import json
import os
import subprocess

import pytest
from harness import MIB, Cli, wait_for
from namespace import shell_with_own_mounts
from needs import need_build, need_root

NVMET = "/sys/kernel/config/nvmet/subsystems/nqn.test/namespaces/1/device_path"
LIO = "/sys/kernel/config/target/core/iblock_0/disk/udev_path"


@pytest.fixture
def reasons():
    """What `plateau devices` has against a device where these files are in /sys: reasons(device, mount, files)."""
    need_build()
    need_root()

    def look(device, mount: str, files: dict[str, str]) -> list[str]:
        script = f"mount -t tmpfs plateau-test {mount}\n"
        for path, text in files.items():
            script += f"mkdir -p {os.path.dirname(path)}\nprintf '%s\\n' '{text}' > {path}\n"
        cli = Cli()
        done = subprocess.run(shell_with_own_mounts(f"{script}exec {cli.program} devices --json"),
                              capture_output=True, text=True, check=True, env=cli.environment)  # fmt: skip
        (shown,) = [d for d in json.loads(done.stdout)["devices"] if d["path"] == device.path]
        assert not shown["eligible"] and not shown["erasable"]
        return shown["reasons"]

    return look


@pytest.mark.parametrize("attribute, by", ((NVMET, "NVMe target"), (LIO, "SCSI target LIO")))
def test_export_is_told_with_its_target(loop, reasons, attribute, by):
    device = loop(16 * MIB)
    (reason,) = reasons(device, "/sys/kernel", {attribute: device.path})
    assert f"exported to other machines by the {by}" in reason and attribute in reason


def test_export_of_a_partition_is_one_of_the_disk(loop, reasons):
    device = loop(16 * MIB)
    subprocess.run(["sfdisk", "--quiet", "--no-reread", device.path], input="size=4M\n", text=True, check=True)
    subprocess.run(["partx", "--add", device.path], check=False)  # or the kernel has seen it
    try:
        wait_for(lambda: os.path.exists(f"{device.path}p1"), 10, "the partition")
        found = reasons(device, "/sys/kernel", {NVMET: f"{device.path}p1"})
    finally:
        subprocess.run(["partx", "--delete", device.path], capture_output=True)
    assert any("exported to other machines" in reason and f"{device.name}p1" in reason for reason in found), found


def test_path_of_a_multipath_device_is_told(loop, reasons):
    device = loop(16 * MIB)
    holders = f"/sys/block/{device.name}/holders"
    dm = f"{holders}/dm-7/dm"
    (reason,) = reasons(device, holders, {f"{dm}/name": "mpatha", f"{dm}/uuid": "mpath-36001"})
    assert reason == "a path of the multipath device dm-7 (mpatha); take that apart first with multipath -f mpatha"


def test_other_holders_are_told_by_name(loop, reasons):
    device = loop(16 * MIB)
    holders = f"/sys/block/{device.name}/holders"
    dm = f"{holders}/dm-7/dm"
    (reason,) = reasons(device, holders, {f"{dm}/name": "group-volume", f"{dm}/uuid": "LVM-x"})
    assert reason == "held by dm-7 (group-volume); take that apart first"
