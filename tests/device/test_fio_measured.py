# SPDX-License-Identifier: MIT
"""fio and plateau do the same job on devices of the same kind, and the devices tell what was done: how much was read
and written by the kernel's counters, where by what is not zero any more. The order itself is in quick/test_order.py."""

import math
import subprocess

import needs
import pytest
from harness import KIB, MIB, scratch_path

SIZE = 128 * MIB
BLOCK = 4 * KIB
N_BLOCKS = SIZE // BLOCK
N = 16384  # I/Os: half as many as there are blocks
N_BINS = 64
SIGMAS = 5

LOOKS = 150  # plateau reads, about, to see whether somebody's data is there
HEAD = "[a]\nnorandommap\niodepth=16\nio_size=100g\n"
COUNTED = HEAD + f"number_ios={N}\n"


class Measured:
    """What a device has seen of a job."""

    def __init__(self, device, before):
        after = device.stat()
        self.ios = [after[key] - before[key] for key in ("read_ios", "write_ios")]
        self.bytes = [after[key] - before[key] for key in ("read_bytes", "write_bytes")]
        data, zeros = device.file.read_bytes(), bytes(BLOCK)
        self.is_written = [data[i : i + BLOCK] != zeros for i in range(0, SIZE, BLOCK)]

    @property
    def mix(self):
        return self.ios[0] / sum(self.ios)

    def share_of_larger(self, direction, small, large):
        """Of I/Os of two sizes."""
        return (self.bytes[direction] / self.ios[direction] - small) / (large - small)

    def covered(self, first=0.0, end=1.0):
        """The share of the blocks between two places that was written."""
        part = self.is_written[round(first * N_BLOCKS) : round(end * N_BLOCKS)]
        return sum(part) / len(part)


def run_fio(device, job):
    file = scratch_path("fio") / "job.fio"
    file.write_text(job)
    command = ["fio", "--ioengine=libaio", "--direct=1", f"--filename={device.path}"]
    return subprocess.Popen([*command, file], cwd=file.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.fixture
def measure(service, loop):
    """Both at once, each on a device of its own: fio's, plateau's."""
    needs.need_programs("fio")

    def run(job, other=None):
        devices = loop(SIZE), loop(SIZE)
        before = [device.stat() for device in devices]
        with run_fio(devices[0], job) as fio:
            service.run_job(other or job, devices[1])
            output, _ = fio.communicate(timeout=60)
        assert fio.returncode == 0, output
        return [Measured(*pair) for pair in zip(devices, before)]

    return run


@pytest.mark.parametrize("rw", ["randrw", "rw"])
def test_mixes_agree(measure, rw):
    fio, plateau = measure(COUNTED + f"rw={rw}\nrwmixread=70\n")
    assert sum(plateau.ios) == pytest.approx(sum(fio.ios), rel=0.01)
    assert plateau.mix == pytest.approx(fio.mix, abs=0.01) and plateau.mix == pytest.approx(0.7, abs=0.01)


def test_sizes_agree(measure):
    job = "rw=randrw\nrwmixread=50\nbssplit=4k/90:64k/10,16k/60:32k/40\n"
    fio, plateau = measure(COUNTED + job)
    for direction, small, large, share in (0, 4, 64, 0.1), (1, 16, 32, 0.4):
        shares = [one.share_of_larger(direction, small * KIB, large * KIB) for one in (fio, plateau)]
        assert shares == pytest.approx([share, share], abs=0.015)
        assert shares[0] == pytest.approx(shares[1], abs=0.015)


def chi_square(measured):
    """Of the blocks covered in each bin. Each block is hit with the same probability, nearly independently."""
    n, p = N_BLOCKS // N_BINS, -math.expm1(-N / N_BLOCKS)
    covered = [sum(measured.is_written[i : i + n]) for i in range(0, N_BLOCKS, n)]
    return sum((x - n * p) ** 2 / (n * p * (1 - p)) for x in covered)


def test_uniform_offsets_agree(measure):
    both = measure(COUNTED + "rw=randwrite\n")
    for measured in both:
        assert measured.bytes[1] == N * BLOCK
        assert measured.covered() == pytest.approx(-math.expm1(-N / N_BLOCKS), abs=0.01)
        assert chi_square(measured) < N_BINS + SIGMAS * math.sqrt(2 * N_BINS)


def test_zones_agree(measure):
    fio, plateau = measure(COUNTED + "rw=randwrite\nrandom_distribution=zoned:60/10:30/20:10/70\n")
    for first, end, writes in (0, 0.1, 0.6), (0.1, 0.3, 0.3), (0.3, 1, 0.1):
        expected = -math.expm1(-writes * N / ((end - first) * N_BLOCKS))
        assert fio.covered(first, end) == pytest.approx(expected, abs=0.02)
        assert plateau.covered(first, end) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("theta", [0.6, 1.2])
def test_zipf_agrees(measure, theta):
    fio, plateau = measure(COUNTED + f"rw=randwrite\nrandom_distribution=zipf:{theta}\n")
    assert plateau.covered() == pytest.approx(fio.covered(), abs=0.01)
    # The frequent blocks lie all over the device, in either.
    for measured in fio, plateau:
        for quarter in range(4):
            share = measured.covered(quarter / 4, (quarter + 1) / 4)
            assert share == pytest.approx(measured.covered(), rel=0.15)


@pytest.mark.parametrize("rate, iops", [("rate_iops=400", (0, 400)), ("rate=4m\nbs=16k", (0, 256)),
                                        ("rw=rw\nrate_iops=150,150", (150, 150))])  # fmt: skip
def test_rates_agree(measure, rate, iops):
    seconds = 3
    fio, plateau = measure(HEAD + f"rw=randwrite\ntime_based\nruntime={seconds}\n{rate}\n")
    assert plateau.ios[1] == pytest.approx(iops[1] * seconds, rel=0.02)
    assert plateau.ios[1] == pytest.approx(fio.ios[1], rel=0.02)
    assert fio.ios[0] == pytest.approx(iops[0] * seconds, rel=0.02)
    assert -0.02 * fio.ios[0] <= plateau.ios[0] - fio.ios[0] <= LOOKS


STREAMS = """[global]
stonewall
bs=16k
iodepth=4
norandommap
[a]
rw=write
numjobs=3
io_size=1001k
[b]
rw=randwrite
numjobs=5
io_size=1007k
loops=2
[c]
rw=randwrite
norandommap=0
size=1m
io_size=2100k
[d]
rw=write
numjobs=2
size=1m
io_size=2500k
loops=2
"""


def test_amounts_of_streams_agree(measure):
    fio, plateau = measure(STREAMS, STREAMS.replace("iodepth=4", "iodepth=4\nworkers=2"))
    assert plateau.ios[1] == fio.ios[1] == 3 * 63 + 5 * 126 + 132 + 2 * 192
    assert plateau.bytes[1] == fio.bytes[1] == 16 * KIB * fio.ios[1]


def test_the_judge_sees_a_difference(measure):
    job = COUNTED + "rw=randwrite\nrandom_distribution="
    fio, plateau = measure(job + "zipf:1.2\n", job + "zipf:1.1\n")
    assert abs(plateau.covered() - fio.covered()) > 0.01
