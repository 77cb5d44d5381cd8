# SPDX-License-Identifier: MIT
"""The rules of the house (HACKING.md) that a program can check. Each rule is a function from a source tree to the
list of places that break it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

# In this order; a room includes itself and those before it.
ROOMS = ("util", "spec", "device", "sample", "engine", "wire", "run", "store", "analysis", "render")

# The only places where a library's header may be included.
LIBRARY_HOMES = {
    "cairo": r"lib/render/[^/]+",
    "liburing": r"lib/engine/ring\.[ch]",
    "sqlite3": r"lib/store/[^/]+",
    "systemd/sd-bus": r"daemon/[^/]*-bus\.[ch]|cli/bus-client\.[ch]",
}

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 120

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')

# What has a safe form in lib/util or in the C library.
BANNED_CALLS = re.compile(
    r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atoll|atof|alloca|system|popen)\s*\("
)

# The library reports; whether to log or to leave is for its callers to say.
LIBRARY_SPEAKS = re.compile(
    r"\b(_?exit|abort|perror|syslog|sd_journal_\w+|printf|puts|warnx?|errx?)\s*\(|\bstderr\b|\bstdout\b"
)

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")

RULES: dict[str, Callable[[Path], Iterator[str]]] = {}


def rule(function):
    RULES[function.__name__] = function
    return function


def files(
    root: Path, *suffixes: str, under: tuple[str, ...] = ("",), starts_with: bytes = b""
) -> Iterator[tuple[str, list[str]]]:
    """Source files below root as (path from root, lines), without build directories."""
    for directory, names, entries in os.walk(root):
        names[:] = sorted(n for n in names if not n.startswith((".", "build", "__pycache__")))
        for entry in sorted(entries):
            path = Path(directory, entry)
            name = path.relative_to(root).as_posix()
            if path.suffix not in suffixes or path.is_symlink() or not name.startswith(under):
                continue
            content = path.read_bytes()
            if content.startswith(starts_with):
                yield name, content.decode("utf-8").splitlines()


def scripts(root: Path) -> Iterator[tuple[str, list[str]]]:
    """As files(): those without a suffix that name their interpreter."""
    return files(root, "", starts_with=b"#!")


def includes(root: Path, under: tuple[str, ...]) -> Iterator[tuple[str, int, str, bool]]:
    """(path, line number, what, whether quoted) for each include of a C file below `under`."""
    for name, lines in files(root, ".c", ".h", under=under):
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                yield name, number, match[1] or match[2], match[1] is not None


@rule
def rooms_include_only_rooms_before_them(root: Path):
    for name, number, what, quoted in includes(root, ("lib/",)):
        if not quoted or what == "config.h":
            continue
        own, other = name.split("/")[1], what.split("/")[0]
        if own not in ROOMS:
            yield f"{name}: '{own}' is no room; the rooms are {', '.join(ROOMS)}"
        elif other not in ROOMS or "/" not in what:
            yield f'{name}:{number}: "{what}" is not spelled from the root of lib'
        elif ROOMS.index(other) > ROOMS.index(own):
            yield f'{name}:{number}: "{what}": {own} comes before {other}'


@rule
def quoted_includes_exist_from_a_root(root: Path):
    """A quoted include is spelled from lib/ or from the root of the tree that the file is in."""
    for name, number, what, quoted in includes(root, ("lib/", "daemon/", "cli/")):
        top = name.split("/")[0]
        if quoted and what != "config.h" and not any((root / base / what).is_file() for base in ("lib", top)):
            yield f'{name}:{number}: "{what}" is neither in lib/ nor in {top}/'


@rule
def libraries_stay_in_their_homes(root: Path):
    for name, number, what, _ in includes(root, ("lib/", "daemon/", "cli/")):
        home = LIBRARY_HOMES.get(what.removesuffix(".h"))
        if home and not re.fullmatch(home, name):
            yield f"{name}:{number}: {what} belongs in {home}"


@rule
def worker_knows_neither_database_nor_bus(root: Path):
    for name, number, what, _ in includes(root, ("daemon/worker/",)):
        if what.startswith(("store/", "sqlite3", "systemd/")):
            yield f"{name}:{number}: a worker has no {what}"


@rule
def library_neither_logs_nor_exits(root: Path):
    for name, lines in files(root, ".c", under=("lib/",)):
        for number, line in enumerate(lines, 1):
            if match := LIBRARY_SPEAKS.search(without_strings(line)):
                yield f"{name}:{number}: {match[0].rstrip('(')} in the library"


@rule
def no_unsafe_calls(root: Path):
    for name, lines in files(root, ".c", ".h", under=("lib/", "daemon/", "cli/")):
        for number, line in enumerate(lines, 1):
            if match := BANNED_CALLS.search(without_strings(line)):
                yield f"{name}:{number}: {match[1]}"


@rule
def no_tabs_and_no_trailing_blanks(root: Path):
    for name, lines in files(root, ".c", ".h", ".py", ".sql", ".build", ".txt"):
        for number, line in enumerate(lines, 1):
            if "\t" in line:
                yield f"{name}:{number}: tab"
            elif line != line.rstrip():
                yield f"{name}:{number}: blank at the end"


@rule
def lines_fit(root: Path):
    for name, lines in [*files(root, ".c", ".h", ".py", ".sql"), *scripts(root)]:
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                yield f"{name}:{number}: {len(line)} columns"


@rule
def files_are_one_thing(root: Path):
    for name, lines in files(root, ".c", ".h", ".py", ".sql"):
        if len(lines) > FILE_LINES_MAX:
            yield f"{name}: {len(lines)} lines"


@rule
def functions_are_one_thing(root: Path):
    for name, lines in files(root, ".c", ".h"):
        start = None
        for number, line in enumerate(lines, 1):
            if line.endswith(") {") and not line.startswith((" ", "#")):
                start = number
            elif line.startswith("}") and start is not None:
                if number - start - 1 > FUNCTION_LINES_MAX:
                    yield f"{name}:{start}: {number - start - 1} lines"
                start = None


@rule
def licence_is_named(root: Path):
    for name, lines in files(root, ".c", ".h", ".py", ".sql"):
        if not any("SPDX-License-Identifier: MIT" in line for line in lines[:3]):
            yield f"{name}: no SPDX-License-Identifier"


@rule
def headers_are_guarded(root: Path):
    for name, lines in files(root, ".h"):
        if "#pragma once" not in lines[:4]:
            yield f"{name}: no #pragma once"


@rule
def nothing_is_left_for_later(root: Path):
    for name, lines in files(root, ".c", ".h", ".sql", ".build", ".md"):
        for number, line in enumerate(lines, 1):
            if match := UNFINISHED.search(line):
                yield f"{name}:{number}: {match[0]}"


@rule
def every_source_is_built(root: Path):
    """A C file that no meson.build names is dead, and a test that none names never runs."""
    builds = {os.path.dirname(name): "\n".join(lines) for name, lines in files(root, ".build")}
    for name, _ in files(root, ".c"):
        directory, base = os.path.split(name)
        stem = base.removesuffix(".c")
        quoted = re.compile(rf"'(?:[\w./-]*/)?{re.escape(base)}'|'{re.escape(stem)}'")
        near = (directory, os.path.dirname(directory))
        # Elsewhere in the tree the folder must be named too, for many files have the same name.
        if not any(quoted.search(text) and (at in near or directory in text) for at, text in builds.items()):
            yield f"{name}: in no meson.build"


def without_strings(line: str) -> str:
    """The line with string literals emptied and comments cut, so that words in them are not taken for code."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
    line = re.sub(r"/\*.*?(\*/|$)", "", line)
    return "" if line.lstrip().startswith("* ") else line


def violations(root: Path) -> dict[str, list[str]]:
    return {name: list(check(root)) for name, check in RULES.items()}
