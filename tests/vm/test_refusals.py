# SPDX-License-Identifier: MIT
"""Never the wrong disk, on a machine with everything that can lay hands on one: each reason refuses a confirmed start
with its own words and exit status 3, changes no byte, and stands in `plateau devices` beforehand."""

import json

import pytest
from guest import JOB

# A process apart that is ready when it says so.
ELSEWHERE = "systemd-run -q --unit=elsewhere -p Type=notify -p NotifyAccess=all"
PARTITION = "echo ', 64M' | sfdisk -q --label gpt $1 && udevadm settle && mkfs.ext4 -q -E lazy_itable_init=0 ${1}1"

# How the two spare drives ($1 and $2) come into use, which of them is started on, the words of the refusal; then how
# they are let go again, and the words about what they still hold.
USES = {
    "file-system": (
        "mkfs.ext4 -q -E lazy_itable_init=0 $1 && mount -o ro $1 /mnt", 0, ["mounted at /mnt"],
        "umount /mnt", ["holds a file system (ext4)"]),
    "partition": (
        f"{PARTITION} && mount -o ro ${{1}}1 /mnt", 0, ["partition", "mounted at /mnt"],
        "umount /mnt", ["holds a partition table (gpt)"]),
    "file-system-elsewhere": (
        f"mkfs.ext4 -q -E lazy_itable_init=0 $1 && {ELSEWHERE} -p PrivateMounts=yes "
        "sh -c \"mount -o ro $1 /mnt && systemd-notify --ready && exec sleep 600\"", 0,
        ["mounted at /mnt in the mount namespace of process"],
        "systemctl stop elsewhere", ["holds a file system (ext4)"]),
    "mirror": (
        "mdadm --create --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=none /dev/md9 $1 $2", 1,
        ["held by md9"], "mdadm --stop --quiet /dev/md9", ["linux_raid_member"]),
    "volume": (
        "vgcreate -q -y group $1 && lvcreate -q -y -n volume -L 16M group", 0, ["held by dm-0 (group-volume)"],
        "vgchange -q -an group", ["LVM2_member"]),
    "luks": (
        "cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $1 /run/key && "
        "cryptsetup open --key-file /run/key $1 opened", 0, ["held by dm-0 (opened)"],
        "cryptsetup close opened", ["holds an encrypted volume (crypto_LUKS)"]),
    "swap": ("mkswap -q $1 && swapon $1", 0, ["in use as swap"], "swapoff $1", ["holds a signature (swap)"]),
    "second-of-btrfs": (
        "modprobe btrfs && mkfs.btrfs -q -f $1 $2 && mount -o ro $1 /mnt", 1, ["a member of the mounted btrfs"],
        "umount /mnt", ["holds a file system (btrfs"]),
    "process": (
        f"{ELSEWHERE} sh -c \"exec 7<$1 && systemd-notify --ready && exec sleep 600\"", 0,
        ["held open by process", "(sleep)"], "systemctl stop elsewhere", []),
}  # fmt: skip

BLANK = """
for disk in $1 $2; do
        blockdev --setrw $disk
        for part in $disk?; do
                [ ! -b $part ] || wipefs -qaf $part
        done
        wipefs -qaf $disk
        blockdev --rereadpt $disk
done
udevadm settle
plateau devices --json $1 $2
"""
LET_GO = """
systemctl stop elsewhere
mountpoint /mnt && umount /mnt
swapoff -a
cryptsetup close opened
vgchange -an group
mdadm --stop /dev/md9
"""


@pytest.fixture
def spares(guest):
    """The spare drives, blank before and after."""
    paths = [guest.path("spare1"), guest.path("spare2")]
    guest("head -c 64 /dev/urandom >/run/key")
    yield paths
    guest(LET_GO, check=False)
    devices = guest(BLANK, *paths).json["devices"]
    assert [device["reasons"] for device in devices] == [[], []], "not blank again"


def everything(guest):
    """What no refusal may change: contents of drives, what they are used for, and the runs."""
    seen = guest("udevadm settle && sync && lsblk -no NAME,MOUNTPOINTS && plateau list --json").out
    return seen, [drive.hash() for drive in guest.drives if drive.kind == "scsi"]


def refuses(guest, path, confirm, words, option=""):
    before = everything(guest)
    told = guest(f"plateau devices --json {path} && plateau start - --device {path} --confirm {confirm} {option}",
                 input=JOB, check=3)  # fmt: skip
    assert path in told.err and all(word in told.err for word in words), told
    (device,) = told.json["devices"]
    reasons = "; ".join(device["reasons"])
    assert not device["eligible"] and all(word in reasons for word in words), reasons
    assert everything(guest) == before


@pytest.mark.parametrize("use", USES)
def test_drive_of_another_use_is_refused(guest, spares, use):
    """While it is in use no option changes that; afterwards what it holds would have to be erased."""
    bring, which, in_use, release, holds = USES[use]
    guest(bring, *spares)
    refuses(guest, spares[which], f"SPARE{which + 1}", in_use, "--erase-existing")
    guest(release, *spares)
    if holds:
        refuses(guest, spares[which], f"SPARE{which + 1}", holds)


def test_disk_of_the_root_is_refused(guest):
    refuses(guest, "/dev/vda", "root", ["mounted at /"], "--erase-existing")


def test_read_only_drive_is_refused(guest, spares):
    guest("blockdev --setro $1", *spares)
    refuses(guest, spares[0], "SPARE1", ["read-only"])


def test_serial_of_another_drive_confirms_nothing(guest, spares):
    refused = guest.plateau("start", "-", "--device", spares[0], "--confirm", "SPARE2", input=JOB, check=3)
    assert "no confirmation given is this device's; confirm with --confirm SPARE1" in refused.err


def test_serial_that_two_drives_have_confirms_neither(guest):
    paths = [guest.path("twin1"), guest.path("twin2")]
    devices = guest.json("devices", *paths)["devices"]
    assert [(device["serial"], device["confirm"]) for device in devices] == \
           [("TWIN", path.removeprefix("/dev/")) for path in paths]  # fmt: skip
    for path, other in (paths, paths[::-1]):
        refused = guest.plateau("start", "-", "--device", path, "--confirm", "TWIN", input=JOB, check=3)
        assert f"{other} has the same serial number" in refused.err, refused
        assert f"confirm with --confirm {path.removeprefix('/dev/')}" in refused.err, refused


def test_serial_that_acts_on_a_terminal_is_shown_as_text(guest):
    path, serial = guest.path("hostile"), guest.drive("hostile").serial
    assert guest.json("devices", path)["devices"][0]["serial"] == serial
    refused = guest.plateau("start", "-", "--device", path, "--confirm", "S", input=JOB, check=3)
    run = guest.start("hostile")
    guest.wait_samples(run, 1)
    assert guest.row(run)["device"]["serial"] == serial
    guest.plateau("stop", run)
    guest.wait_state(run, "stopped")
    for told in (refused.err, guest.plateau("devices", path).out, guest.plateau("show", run).out):
        assert "S\\x1B[2J%n%s\"'" in told and "\x1b" not in told, told
    for line in guest("journalctl -b -q -u plateaud -o json").out.splitlines():
        message = json.loads(line)["MESSAGE"]  # a list of bytes if it is no text
        assert isinstance(message, str) and "\x1b" not in message, message


def test_zoned_drive_is_refused(guest):
    guest("modprobe null_blk nr_devices=1 gb=1 zoned=1 && udevadm settle")
    try:
        refuses(guest, "/dev/nullb0", "nullb0", ["zoned"], "--erase-existing")
    finally:
        guest("rmmod null_blk")
