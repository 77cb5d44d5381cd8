# SPDX-License-Identifier: MIT
"""What a test needs of the machine. What is missing is said and the test skipped; as root in CI it fails instead."""

import os
import shutil

import pytest

import harness


def missing(reason: str, kernel: bool = False):
    """Skips the test. As root in CI everything can be had but what this kernel lacks, so there it is a failure."""
    if os.environ.get("CI") == "true" and os.geteuid() == 0 and not kernel:
        pytest.fail(f"in CI nothing may be missing: {reason}")
    pytest.skip(reason)


def need_programs(*names: str):
    for name in names:
        if not shutil.which(name):
            missing(f"{name} is not installed")


def need_root():
    if os.geteuid() != 0:
        missing("needs root")


def need_build():
    if not (harness.BUILD / "daemon" / "plateaud").exists():
        missing(f"nothing is built in {harness.BUILD} (PLATEAU_BUILD)")


def need_service():
    need_build()
    need_programs("dbus-daemon")


def need_loop():
    need_root()
    need_programs("losetup")
    if not os.path.exists("/dev/loop-control"):
        missing("this kernel has no loop devices", kernel=True)


def need_nbd():
    need_loop()
    need_programs("nbdkit", "nbdfuse", "fusermount3")
    if not os.path.exists("/dev/fuse"):
        missing("this kernel has no FUSE", kernel=True)


def need_ssdsim():
    need_nbd()
    if not harness.SsdSim.PLUGIN.exists():
        missing("the simulated drive is not built (it needs nbdkit-plugin-dev and liblz4-dev)")


def need_zram():
    need_root()
    if not os.path.exists("/sys/block/zram0") and not harness.ZramDevice.CONTROL.exists():
        missing("this kernel has no zram", kernel=True)
