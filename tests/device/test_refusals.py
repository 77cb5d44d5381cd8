# SPDX-License-Identifier: MIT
"""Never the wrong disk: each reason against a device refuses it with its own words, exit status 3, and no byte
changed; `plateau devices` gives the same reason beforehand."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import re
import signal
import subprocess

import pytest

import needs
from harness import MIB, content_hash, scratch_path, wait_for
from namespace import shell_with_own_mounts

JOB = "[p]\nrw=write\nbs=64k\niodepth=4\nsize=1m\noffset=4m\n"
LONG_JOB = "[p]\nrw=randwrite\nbs=4k\niodepth=4\ntime_based\nruntime=60\n"


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def start(service, path, *options, check, job=JOB):
    return service.cli("start", "-", "--device", path, *options, input=job, check=check)


def reasons(service, path) -> list[str]:
    (device,) = service.cli.json("devices", path)["devices"]
    assert device["eligible"] == (not device["reasons"])
    return device["reasons"]


def nodes() -> list[str]:
    """What is in /dev, without the devices that other tests make meanwhile."""
    return sorted(name for name in os.listdir("/dev") if not re.match(r"(loop|zram)\d", name))


def refuses(service, device, *words, path=None, options=(), listed=True):
    """A confirmed start on the device (or on path, of it) is refused with these words and leaves everything as
    it was; unless told otherwise `devices` says them too."""
    path = path or device.path
    before = content_hash(device.file), service.cli.json("list"), nodes()
    result = start(service, path, "--confirm", os.path.basename(path), *options, check=3)
    assert path in result.err and all(word in result.err for word in words), result
    assert (content_hash(device.file), service.cli.json("list"), nodes()) == before
    if listed:
        told = "; ".join(reasons(service, path))
        assert all(word in told for word in words), told


@contextlib.contextmanager
def child(function):
    """A process that has called function() and keeps what that opened, until the end of the block."""
    ready, done = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            libc = ctypes.CDLL(None)
            libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            kept = function()  # noqa: F841
            os.write(done, b"x")
            signal.pause()
        finally:
            os._exit(1)
    os.close(done)
    try:
        assert os.read(ready, 1) == b"x", "the child failed"
        yield pid
    finally:
        os.close(ready)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@contextlib.contextmanager
def mounted(path, *options):
    point = scratch_path("mount")
    run("mount", *options, path, str(point))
    try:
        yield point
    finally:
        run("umount", str(point))


@pytest.fixture
def disk(loop):
    return loop(64 * MIB)


@pytest.fixture
def parted(loop):
    """Two partitions; .partitions are their paths."""
    needs.need_programs("sfdisk", "partx")
    device = loop(64 * MIB)
    run("sfdisk", "--quiet", "--no-reread", device.path, input="label: gpt\nsize=16M\nsize=16M\n")
    subprocess.run(["partx", "--add", device.path], check=False, capture_output=True)  # or the kernel has seen them
    device.partitions = [f"{device.path}p1", f"{device.path}p2"]
    try:
        wait_for(lambda: all(map(os.path.exists, device.partitions)), 10, "the partitions")
        yield device
    finally:
        subprocess.run(["partx", "--delete", device.path], capture_output=True)  # none may be left


# --- what is no block device -------------------------------------------------------------------


def test_missing_path_is_not_created(service):
    path = scratch_path("missing") / "disk"
    result = start(service, path, "--confirm", "disk", check=6)
    assert "there is no device" in result.err
    assert not path.exists() and not os.listdir(path.parent)


def test_dangling_link(service):
    directory = scratch_path("link")
    (directory / "link").symlink_to(directory / "nowhere")
    result = start(service, directory / "link", "--confirm", "link", check=3)
    assert "leads nowhere" in result.err
    assert os.listdir(directory) == ["link"]


def test_regular_file(service):
    path = scratch_path("file") / "disk"
    path.write_bytes(bytes(8 * MIB))
    assert "a regular file" in start(service, path, "--confirm", "disk", check=3).err
    assert path.read_bytes() == bytes(8 * MIB)


def test_directory(service):
    path = scratch_path("directory")
    assert "a directory" in start(service, path, "--confirm", path.name, check=3).err
    assert not os.listdir(path)


def test_character_device(service):
    assert "a character device" in start(service, "/dev/null", "--confirm", "null", check=3).err


def test_link_to_a_device_is_the_device(service, disk):
    link = scratch_path("link") / "by-name"
    link.symlink_to(disk.path)
    before = content_hash(disk.file)
    assert f"confirm with --confirm {disk.name}" in start(service, link, check=3).err
    assert content_hash(disk.file) == before


# --- confirmation ------------------------------------------------------------------------------


def test_confirmation_is_required(service, disk):
    before = content_hash(disk.file)
    result = start(service, disk.path, check=3)
    assert f"confirm with --confirm {disk.name}" in result.err
    result = start(service, disk.path, "--confirm", "loop", "--confirm", f"{disk.name}p1", check=3)
    assert f"confirm with --confirm {disk.name}" in result.err
    assert content_hash(disk.file) == before


def test_partition_needs_its_own_confirmation(service, parted):
    before = content_hash(parted.file)
    target = parted.partitions[0]
    result = start(service, target, "--confirm", parted.name, check=3)
    assert f"confirm with --confirm {os.path.basename(target)}" in result.err
    assert content_hash(parted.file) == before


# --- what it is --------------------------------------------------------------------------------


def test_read_only(service, disk):
    run("blockdev", "--setro", disk.path)
    try:
        refuses(service, disk, "read-only")
    finally:
        run("blockdev", "--setrw", disk.path)


def test_without_size(service, loop):
    empty = loop(0)
    result = start(service, empty.path, "--confirm", empty.confirm, check=3)
    assert "it has no size" in result.err


# --- who uses it -------------------------------------------------------------------------------


def test_mounted(service, disk):
    needs.need_programs("mkfs.ext4")
    run("mkfs.ext4", "-q", disk.path)
    with mounted(disk.path, "-o", "ro") as point:
        refuses(service, disk, f"mounted at {point}")
        refuses(service, disk, f"mounted at {point}", options=["--erase-existing"])


def test_mount_point_is_escaped(service, disk):
    needs.need_programs("mkfs.ext4")
    run("mkfs.ext4", "-q", disk.path)
    point = scratch_path("mount") / "a b\n\033[2J"
    point.mkdir()
    run("mount", "-o", "ro", disk.path, str(point))
    try:
        refuses(service, disk, "a b\\n\\x1B[2J; unmount it first", listed=False)
        assert f"mounted at {point}; unmount it first" in reasons(service, disk.path)  # JSON has its own escapes
    finally:
        run("umount", str(point))


def test_partition_is_mounted(service, parted):
    needs.need_programs("mkfs.ext4")
    first, second = parted.partitions
    run("mkfs.ext4", "-q", first)
    with mounted(first, "-o", "ro") as point:
        refuses(service, parted, f"partition {parted.name}p1 is mounted at {point}", options=["--erase-existing"])
        refuses(service, parted, f"mounted at {point}", path=first, options=["--erase-existing"])
        assert reasons(service, second) == []


def test_mounted_in_another_namespace(service, disk):
    needs.need_programs("mkfs.ext4", "unshare")
    run("mkfs.ext4", "-q", disk.path)
    point = scratch_path("mount")
    script = f"mount -o ro {disk.path} {point}\necho ready\nexec sleep infinity"
    process = subprocess.Popen(shell_with_own_mounts(script), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        assert str(point) not in open("/proc/self/mountinfo").read()
        refuses(service, disk, f"mounted at {point} in the mount namespace of process {process.pid}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        wait_for(disk.claim_is_free, 5, "the mount is gone with its namespace")


def test_unmounted_lazily_but_still_used(service, disk):
    needs.need_programs("mkfs.ext4")
    run("mkfs.ext4", "-q", disk.path)
    point = scratch_path("mount")
    run("mount", "-o", "ro", disk.path, str(point))
    inside = os.open(point, os.O_RDONLY)
    try:
        run("umount", "--lazy", str(point))
        refuses(service, disk, "in exclusive use by something that no scan finds")
    finally:
        os.close(inside)
        wait_for(disk.claim_is_free, 5, "the file system is gone")


def test_member_of_mounted_btrfs(service, loop):
    needs.need_programs("mkfs.btrfs")
    first, second = loop(128 * MIB), loop(128 * MIB)
    run("mkfs.btrfs", "-q", "-d", "single", "-m", "raid1", first.path, second.path)
    point = scratch_path("mount")
    done = subprocess.run(["mount", "-o", f"ro,device={second.path}", first.path, str(point)], capture_output=True)
    if done.returncode != 0:
        needs.missing(f"no btrfs: {done.stderr.decode().strip()}", kernel=True)
    try:
        refuses(service, first, "member of the mounted btrfs")
        refuses(service, second, "member of the mounted btrfs")
    finally:
        run("umount", str(point))


def test_swap(service, disk):
    run("mkswap", disk.path)
    done = subprocess.run(["swapon", disk.path], capture_output=True, text=True)
    if done.returncode != 0:
        needs.missing(f"no swap: {done.stderr.strip()}", kernel=True)
    try:
        refuses(service, disk, "in use as swap", f"swapoff {disk.path}")
    finally:
        run("swapoff", disk.path)


def test_backs_a_loop_device(service, disk):
    upper = run("losetup", "--find", "--show", disk.path).strip()
    try:
        refuses(service, disk, f"the backing of {os.path.basename(upper)}")
    finally:
        run("losetup", "--detach", upper)
        wait_for(disk.claim_is_free, 5, "the upper loop device has let go")


def test_open_elsewhere(service, disk):
    with child(lambda: os.open(disk.path, os.O_RDONLY)) as pid:
        refuses(service, disk, f"held open by process {pid} (")


def test_open_under_another_name(service, disk):
    node = scratch_path("node") / "alias"
    os.mknod(node, 0o600 | 0o060000, os.stat(disk.path).st_rdev)
    with child(lambda: os.open(node, os.O_RDONLY)) as pid:
        refuses(service, disk, f"held open by process {pid} (")


def test_mapped_elsewhere(service, disk):
    """A mapping goes on writing when its descriptor is closed (Python's own mmap would keep a copy of it)."""

    def map_and_close():
        mapping = ctypes.CDLL(None, use_errno=True).mmap
        mapping.restype = ctypes.c_void_p
        mapping.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        node = os.open(disk.path, os.O_RDWR)
        at = mapping(None, 4096, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, node, 0)
        os.close(node)
        assert at != ctypes.c_void_p(-1).value

    with child(map_and_close) as pid:
        refuses(service, disk, f"held open by process {pid} (")


def test_partition_open_elsewhere(service, parted):
    first, second = parted.partitions
    with child(lambda: os.open(first, os.O_RDONLY)) as pid:
        refuses(service, parted, f"partition {parted.name}p1 is held open by process {pid} (")
        assert reasons(service, second) == []


def test_disk_open_elsewhere(service, parted):
    with child(lambda: os.open(parted.path, os.O_RDONLY)) as pid:
        refuses(service, parted, f"its disk {parted.name} is held open by process {pid} (", path=parted.partitions[1])


def test_locked_elsewhere(service, disk):
    def lock():
        fcntl.flock(node := os.open(disk.path, os.O_RDONLY), fcntl.LOCK_SH)
        return node

    with child(lock) as pid:
        refuses(service, disk, f"locked (FLOCK) by process {pid} (")


def test_in_use_by_another_run(service, disk):
    (first,) = service.start_run(LONG_JOB, disk)
    result = start(service, disk.path, "--confirm", disk.name, check=3)
    assert f"run {first}" in result.err
    service.wait_samples(first, 1)
    assert service.row(first)["state"] == "running"


def test_in_use_by_another_service(service, own_service, disk):
    (first,) = own_service.start_run(LONG_JOB, disk)
    (worker,) = own_service.wait_workers(1)
    result = start(service, disk.path, "--confirm", disk.name, check=3)
    assert "under test by plateau itself" in result.err
    assert f"process {worker}" not in result.err
    own_service.wait_samples(first, 1)
    assert own_service.row(first)["state"] == "running"


def test_io_of_a_killed_worker_is_pending(service, own_service, nbd):
    """The process is gone or going, but the kernel still owes the device its writes."""
    device = nbd(64 * MIB)
    (first,) = own_service.start_run(LONG_JOB, device)
    own_service.wait_samples(first, 1)
    device.hang()
    wait_for(lambda: device.stat()["in_flight"] > 0, 5, "I/O in flight")
    (worker,) = own_service.kill9()
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)
    result = start(service, device.path, "--confirm", device.name, check=3)
    assert "I/O of a dead process is still pending" in result.err
    device.unhang()
    wait_for(device.claim_is_free, 10, "the pending I/O has ended")
    result = start(service, device.path, check=3)
    assert "not confirmed" in result.err


def test_run_keeps_others_out(service, disk):
    service.start_run(LONG_JOB, disk)
    service.wait_workers(1)
    assert not disk.claim_is_free()
    with open(disk.path, "rb") as node, pytest.raises(BlockingIOError):
        fcntl.flock(node, fcntl.LOCK_SH | fcntl.LOCK_NB)


def test_the_machines_own_disk(service):
    """Only looked at: what / lies on is never eligible."""
    found = subprocess.run(["findmnt", "--noheadings", "--output", "SOURCE", "/"], capture_output=True, text=True)
    source = found.stdout.strip()
    if not source.startswith("/dev/") or not os.path.exists(source):
        pytest.skip(f"/ lies on {source or 'no mount of its own'}")
    assert any("mounted at /" in reason for reason in reasons(service, source))


# --- what it holds -----------------------------------------------------------------------------

# Whoever makes it must not look at other devices, which other tests have made meanwhile.
CONTENTS = {
    "ext4": (64, "holds a file system (ext4, \"other\")", ["mkfs.ext4", "-q", "-L", "other"]),
    "xfs": (320, "holds a file system (xfs)", ["mkfs.xfs", "-q"]),
    "btrfs": (128, "holds a file system (btrfs)", ["mkfs.btrfs", "-q"]),
    "swap": (64, "holds a signature (swap)", ["mkswap"]),
    "lvm": (64, "holds a RAID or volume manager member (LVM2_member)", ["pvcreate", "-q", "--devices", "DEVICE"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", CONTENTS)
def test_content_needs_erase_existing(service, loop, kind):
    size, words, command = CONTENTS[kind]
    needs.need_programs(command[0])
    device = loop(size * MIB)
    run(*(word.replace("DEVICE", device.path) for word in command), device.path)
    refuses(service, device, words)
    assert "--erase-existing" in start(service, device.path, "--confirm", device.name, check=3).err


@pytest.mark.parametrize("label", ["gpt", "dos"])
def test_partition_table_needs_erase_existing(service, disk, label):
    needs.need_programs("sfdisk")
    run("sfdisk", "--quiet", "--no-reread", disk.path, input=f"label: {label}\nsize=16M\n")
    refuses(service, disk, f"holds a partition table ({label})")


def test_backup_partition_table_at_the_end(service, disk):
    needs.need_programs("sfdisk")
    run("sfdisk", "--quiet", "--no-reread", disk.path, input="label: gpt\nsize=16M\n")
    with open(disk.file, "r+b") as f:
        f.write(bytes(MIB))
    run("blockdev", "--flushbufs", disk.path)
    refuses(service, disk, f"holds a partition table (gpt) at byte {disk.size - 512}")


def test_several_contents_are_all_told(service, disk):
    run("mkswap", disk.path)
    with open(disk.file, "r+b") as f:
        f.write(b"LUKS\xba\xbe\0\1")
    run("blockdev", "--flushbufs", disk.path)
    refuses(service, disk, "(swap)", "(crypto_LUKS)")


def signatures(path) -> str:
    return run("wipefs", "--no-act", "--noheadings", path)


def test_erase_existing_wipes_first(service, parted):
    needs.need_programs("mkfs.ext4")
    run("mkfs.ext4", "-q", "-F", parted.partitions[0])
    document = service.run_job(JOB, parted, options=["--erase-existing"])
    assert document["state"] == "done"
    assert signatures(parted.path) == ""
    assert not any(map(os.path.exists, parted.partitions))


def test_what_a_run_wrote_is_no_content(service, disk):
    job = "[p]\nrw=write\nbs=64k\niodepth=4\n"
    service.run_job(job, disk)
    service.run_job(job, disk)


def test_a_partition_run_stays_in_it(service, parted):
    target = parted.partitions[0]
    begin = int(open(f"/sys/class/block/{os.path.basename(target)}/start").read()) * 512
    size = 16 * MIB

    def outside():
        data = parted.file.read_bytes()
        return data[:begin] + data[begin + size :]

    before = outside()
    job = "[p]\nrw=write\nbs=64k\niodepth=4\n"
    result = start(service, target, "--confirm", os.path.basename(target), "--wait", job=job, check=0)
    assert result.rc == 0
    assert outside() == before
    with open(parted.file, "rb") as f:
        f.seek(begin)
        assert f.read(size).count(bytes(512)) == 0


# --- who asks ----------------------------------------------------------------------------------


def test_devices_without_root_says_what_it_could_not_see(service, disk):
    result = service.cli("devices", disk.path, "--json", user=65534, group=65534, extra_groups=[])
    (device,) = result.json["devices"]
    assert not device["eligible"] and "run as root" in "; ".join(device["reasons"])
