# SPDX-License-Identifier: MIT
"""The order of I/O against fio's own: which directions, sizes and places, and how often. Both repeat their numbers."""

import collections
import subprocess

import harness
import needs
import pytest

MIB = 1 << 20
SIZE = 64 * MIB
N = 50_000

# With this many degrees of freedom or fewer, a chi-square beyond mean + 5 standard deviations is no chance.
SIGMAS = 5


@pytest.fixture(autouse=True)
def programs():
    needs.need_programs("fio")
    needs.need_build()


def order_of_fio(directory, options: str, n: int):
    """Of all streams; fio logs each completion, and its null engine completes in order."""
    job = directory / "fio.job"
    amounts = f"size={SIZE}\nio_size=1t\nnumber_ios={n}"
    job.write_text(f"[a]\nioengine=null\n{amounts}\n{options}\nwrite_bw_log=a\nlog_offset=1\n")
    subprocess.run(["fio", str(job)], cwd=directory, capture_output=True, timeout=120, check=True)
    ops = []
    for log in sorted(directory.glob("a_bw.*.log")):
        for line in log.read_text().splitlines():
            _, _, direction, length, offset = line.split(",")[:5]
            ops.append((int(direction), int(length), int(offset)))
    return ops


def order_of_plateau(directory, options: str, n: int, size: int = SIZE):
    job = directory / "plateau.job"
    job.write_text(f"[a]\n{options}\n")
    program = harness.BUILD / "tests" / "quick" / "print-order"
    run = subprocess.run([program, job, str(size), str(n)], capture_output=True, timeout=60, check=True, text=True)
    return [tuple(map(int, line.split())) for line in run.stdout.splitlines()]


@pytest.fixture
def both(tmp_path):
    def orders(options, n=N):
        return order_of_fio(tmp_path, options, n), order_of_plateau(tmp_path, options, n)

    return orders


def shares(ops, key):
    counts = collections.Counter(map(key, ops))
    return {value: count / len(ops) for value, count in counts.items()}


def assert_same_shares(one, two, key, tolerance=0.01):
    first, second = shares(one, key), shares(two, key)
    # At the end of the region one of them may be cut.
    assert {v for v in first if first[v] > 0.001} == {v for v in second if second[v] > 0.001}
    for value, share in first.items():
        assert second.get(value, 0) == pytest.approx(share, abs=tolerance), value


def assert_same_distribution(one, two):
    """Counts of two samples of equal size: chi-square of homogeneity over the bins that hold enough."""
    bins = [(a, b) for a, b in zip(one, two) if a + b >= 20]
    chi = sum((a - b) ** 2 / (a + b) for a, b in bins)
    freedom = len(bins) - 1
    assert freedom >= 5
    assert chi < freedom + SIGMAS * (2 * freedom) ** 0.5
    # What the chi-square leaves out is nothing to speak of, and nothing that only one of them has.
    assert all(abs(a - b) <= 20 for a, b in zip(one, two) if a + b < 20)


def by_place(ops, n_bins=100):
    counts = [0] * n_bins
    for _, _, offset in ops:
        counts[offset * n_bins // SIZE] += 1
    return counts


def by_rank(ops):
    """How often the most frequent block comes, the second, the next two, the next four ..."""
    counts = sorted(collections.Counter(offset for _, _, offset in ops).values(), reverse=True)
    bins, first = [], 0
    while first < len(counts):
        bins.append(sum(counts[first : first + max(first, 1)]))
        first += max(first, 1)
    return bins


SPLITS = [
    "rw=randwrite\nnorandommap\nbssplit=4k/60:64k/40",
    "rw=write\nbssplit=4k/60:16k/40",
    "rw=randread\nnorandommap\nbssplit=512/10:4k:64k/30",
    "rw=randrw\nrwmixread=30\nnorandommap\nbssplit=4k/90:8k/10,16k/50:32k/50",
    "rw=randrw\nnorandommap\nbssplit=,8k/75:16k/25",
    "rw=randwrite\nnorandommap\nbssplit=4k/10:8k/20",
]


@pytest.mark.parametrize("options", SPLITS)
def test_sizes_have_the_shares_of_fio(both, options):
    fio, plateau = both(options)
    assert_same_shares(fio, plateau, key=lambda op: op[:2])


@pytest.mark.parametrize("percent", [0, 10, 70, 100])
def test_mixes_have_the_shares_of_fio(both, percent):
    fio, plateau = both(f"rw=randrw\nnorandommap\nrwmixread={percent}")
    assert_same_shares(fio, plateau, key=lambda op: op[0])


def test_uniform_offsets_are_those_of_fio(both):
    fio, plateau = both("rw=randwrite\nnorandommap")
    assert_same_distribution(by_place(fio), by_place(plateau))


@pytest.mark.parametrize(
    "zones",
    ["60/10:30/20:10/70", "90/1:10/99", "70/5:0/45:30/50", "50/10:50/20", "40:60/30"],
)
def test_zones_are_those_of_fio(both, zones):
    fio, plateau = both(f"rw=randwrite\nnorandommap\nrandom_distribution=zoned:{zones}")
    assert_same_distribution(by_place(fio), by_place(plateau))


@pytest.mark.parametrize("theta", ["zipf:0.5", "zipf", "zipf:2"])
def test_zipf_is_that_of_fio(both, theta):
    fio, plateau = both(f"rw=randwrite\nnorandommap\nrandom_distribution={theta}")
    assert_same_distribution(by_rank(fio), by_rank(plateau))


def test_the_judge_sees_a_difference(both):
    fio, plateau = both("rw=randwrite\nnorandommap\nrandom_distribution=zipf:0.9")
    other = both("rw=randwrite\nnorandommap\nrandom_distribution=zipf:0.95")[1]
    with pytest.raises(AssertionError):
        assert_same_distribution(by_rank(fio), by_rank(other))
    with pytest.raises(AssertionError):
        assert_same_distribution(by_place(fio), by_place(plateau))


def region_of(ops):
    return min(op[2] for op in ops), max(op[1] + op[2] for op in ops)


@pytest.mark.parametrize("rw", ["write", "randwrite\nnorandommap=0"])
@pytest.mark.parametrize("increment", ["size=4m\noffset_increment=8m", "size=25%\noffset_increment=25%\noffset=0"])
def test_streams_have_the_regions_of_fio(tmp_path, rw, increment):
    """On a file, since fio's null engine knows no size that an increment could be a share of."""
    options = f"rw={rw}\nnumjobs=4\nbs=64k\n{increment}\n"
    backing = tmp_path / "target"
    backing.touch()
    with open(backing, "wb") as file:
        file.truncate(SIZE)
    job = tmp_path / "fio.job"
    job.write_text(f"[a]\nfilename={backing}\nioengine=psync\nwrite_bw_log=a\nlog_offset=1\n{options}")
    subprocess.run(["fio", str(job)], cwd=tmp_path, capture_output=True, timeout=120, check=True)
    expected = set()
    for log in tmp_path.glob("a_bw.*.log"):
        ops = [tuple(map(int, line.split(",")[2:5])) for line in log.read_text().splitlines()]
        expected.add(region_of(ops))
    assert len(expected) == 4

    n = SIZE // 65536 if "25%" in increment else 4 * 64
    ops = order_of_plateau(tmp_path, options, n)
    assert {region_of(ops[stream::4]) for stream in range(4)} == expected
    assert len(set(op[2] for op in ops)) == n
