# SPDX-License-Identifier: MIT
"""What lies on the drive afterwards: no sector like another, and nothing that a compressor could save."""

import ctypes
import random
import zlib

import pytest
from harness import KIB, MIB, SECTOR, LoopDevice
from needs import missing, need_loop

# What its tests share is made once, in one process.
pytestmark = pytest.mark.xdist_group("payload")

SIZE = 16 * MIB
SAVED_MAX = 0.02
N_PIECES = 256
PERCENTS = (0, 25, 50, 75, 93)
JOB = "[fill]\nrw={rw}\nbs={bs}\niodepth=8\nnorandommap=0\n"


def library(name):
    try:
        return ctypes.CDLL(name)
    except OSError:
        return missing(f"{name} is not installed")


def zlib_size(data):
    return len(zlib.compress(data, 6))


def zstd_size(data):
    lib = library("libzstd.so.1")
    lib.ZSTD_compressBound.restype = lib.ZSTD_compress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(lib.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    return lib.ZSTD_compress(out, ctypes.c_size_t(len(out)), data, ctypes.c_size_t(len(data)), 3)


def lz4_size(data):
    lib = library("liblz4.so.1")
    out = ctypes.create_string_buffer(lib.LZ4_compressBound(len(data)))
    return lib.LZ4_compress_default(data, out, len(data), len(out))


COMPRESSORS = {"zlib": zlib_size, "zstd": zstd_size, "lz4": lz4_size}


@pytest.fixture(scope="module", params=[("write", "128k"), ("randwrite", "4k"), ("randwrite", "512")], ids=" ".join)
def content(shared_service, request):
    """All bytes of a drive that was filled twice, by two runs: (after the first, after the second)."""
    need_loop()
    rw, bs = request.param
    fills = []
    with LoopDevice(SIZE) as device:
        for _ in range(2):
            shared_service.run_job(JOB.format(rw=rw, bs=bs), device)
            fills.append(device.file.read_bytes())
    return fills


def sectors(data):
    return [data[i : i + SECTOR] for i in range(0, len(data), SECTOR)]


def test_no_two_sectors_are_alike(content):
    both = sectors(content[0]) + sectors(content[1])
    assert len(set(both)) == len(both) == 2 * SIZE // SECTOR


def test_no_sector_keeps_half_of_what_it_was(content):
    # Stamping a few bytes into a buffer used again would leave most of a sector as it was somewhere else.
    halves = [s[:256] for s in sectors(content[0])] + [s[256:] for s in sectors(content[0])]
    assert len(set(halves)) == len(halves)


@pytest.mark.parametrize("length", [512, 4 * KIB, 128 * KIB])
@pytest.mark.parametrize("compressor", COMPRESSORS)
def test_compressors_save_nothing(content, compressor, length):
    data = content[0]
    places = random.Random(length).sample(range(SIZE // length), min(N_PIECES, SIZE // length))
    pieces = [data[i * length : (i + 1) * length] for i in places]
    saved = sum(max(0, length - COMPRESSORS[compressor](piece)) for piece in pieces) / (length * len(pieces))
    assert saved <= SAVED_MAX


def test_compressors_would_find_something_if_it_were_there():
    data = (b"\0" * 256 + random.Random(1).randbytes(256)) * 256
    for size in COMPRESSORS.values():
        assert size(data) < len(data) * 0.9


@pytest.mark.parametrize("bs", ["4k", "128k"])
@pytest.mark.parametrize("algorithm", ["lz4", "lzo-rle"])
def test_kernel_saves_what_is_asked_for(service, zram, algorithm, bs):
    """Each percentage fills a part of one device; what the counters of all of it grow by is what it saved."""
    try:
        device = zram(SIZE * len(PERCENTS), algorithm)
    except OSError:
        missing(f"this kernel's zram has no {algorithm}", kernel=True)
    before = {"orig_data_size": 0, "compr_data_size": 0}
    for i, percent in enumerate(PERCENTS):
        region = f"buffer_compress_percentage={percent}\noffset={i * SIZE}\nsize={SIZE}\n"
        service.run_job(JOB.format(rw="randwrite", bs=bs) + region, device)
        stat = device.mm_stat()
        moved = {name: stat[name] - before[name] for name in before}
        assert moved["orig_data_size"] == SIZE
        assert 100 * (1 - moved["compr_data_size"] / SIZE) == pytest.approx(percent, abs=3), percent
        before = stat


def test_kernel_stores_nothing_where_all_can_be_saved(service, zram):
    device = zram(SIZE)
    service.run_job(JOB.format(rw="randwrite", bs="4k") + "buffer_compress_percentage=100\n", device)
    stat = device.mm_stat()
    assert (stat["same_pages"], stat["compr_data_size"]) == (SIZE // (4 * KIB), 0)


def test_kernel_sees_zeros(service, zram):
    device = zram(SIZE)
    service.run_job(JOB.format(rw="randwrite", bs="4k") + "zero_buffers\n", device)
    assert device.mm_stat()["same_pages"] == SIZE // (4 * KIB)


def test_pieces_repeat_as_often_as_asked_for(service, loop):
    device = loop(SIZE)
    service.run_job(JOB.format(rw="randwrite", bs="16k") + "dedupe_percentage=40\n", device)
    data = device.file.read_bytes()
    pieces = [data[i : i + 16 * KIB] for i in range(0, len(data), 16 * KIB)]
    assert 1 - (len(set(pieces)) - 1) / len(pieces) == pytest.approx(0.4, abs=0.06)


def test_kernel_compresses_nothing(service, zram):
    device = zram(SIZE)
    service.run_job(JOB.format(rw="randwrite", bs="4k"), device)
    stat = device.mm_stat()
    assert stat["orig_data_size"] == SIZE
    assert stat["compr_data_size"] >= (1 - SAVED_MAX) * SIZE
    assert stat["same_pages"] == 0
