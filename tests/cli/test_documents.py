# SPDX-License-Identifier: MIT
"""Each key that a verb prints with --json is named in the man page, under that verb."""

import re

import harness
import pytest

VERBS = ("list", "show", "watch", "samples", "plot", "matrix", "presets", "analyze", "compare", "verdict", "import")
AS_LIST = ("show", "watch")  # which say so, and tell the rest


def documents():
    """Verb -> the words of its item in the section Documents."""
    text = (harness.SOURCE / "docs" / "plateau.1").read_text()
    (section,) = re.findall(r"^\.Ss Documents$(.*?)^\.Ss ", text, re.M | re.S)
    items, depth = {}, 0
    for line in section.splitlines():
        depth += line.startswith(".Bl") - line.startswith(".El")
        if depth == 1 and line.startswith(".It Cm"):
            words = items.setdefault(line.split()[2], set())
        elif depth > 0 and not line.startswith((".Bl", ".El")):
            words.update(re.findall(r"[a-z][a-z0-9_]*", line))
    for verb in AS_LIST:
        items[verb] |= items["list"]
    return items


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def csv(level, columns=""):
    lines = [f"{t},{level(t)}{columns}" for t in range(1, 3601)]
    return "\n".join(["time_s,write_ios" + (",errors" if columns else ""), *lines]) + "\n"


@pytest.fixture
def printed(database, script):
    """Verb -> all that it prints of runs that fall, cycle, stall, have errors and phases of several kinds."""
    s = script().run(phases=("a", "b")).state("running").phase(0, "running").samples(900, writes=5000, errors=1)
    s.errno(5, 900).phase(0, "done").phase(1, "running").samples(20, phase=1, reads=3).state("done")
    cli = database.write(s)
    fall = csv(lambda t: 20000 if t <= 300 else 0 if t % 997 == 0 else 3000, ",0")
    cycle = csv(lambda t: 9000 if t % 300 < 150 else 2000)
    imported = [cli.json("import", "-", "--capacity", "4g", input=text) for text in (fall, cycle, fall, fall)]
    out = {"import": imported, "list": [cli.json("list")], "compare": [cli.json("compare", 2, 3, 4, 5)]}
    for verb in ("show", "watch", "samples", "plot", "analyze", "verdict"):
        out[verb] = [harness.json.loads(cli(verb, run, "--json", check=False).out) for run in (1, 2, 3)]
    out["verdict"].append(harness.json.loads(cli("verdict", 1, 2, "--json", check=False).out))
    database.write(script().job("[m]", "action=matrix", "step_time=1", "bs=4k,8k").run())
    return out | {"matrix": [cli.json("matrix", "last")], "presets": [cli.json("presets", "matrix")]}


def test_each_key_is_in_the_man_page(printed):
    named = documents()
    missing = {verb: sorted({key for document in printed[verb] for key in keys(document)} - named[verb])
               for verb in VERBS}  # fmt: skip
    assert not any(missing.values()), missing
    assert any(document["cycle"] for document in printed["analyze"])
    assert any(document["errors"] for document in printed["show"])


def test_each_document_has_what_is_promised(printed):
    """The other way round, for the names with a unit: what the man page tells is printed."""
    named = documents()
    for verb in ("samples", "matrix", "compare", "analyze", "verdict"):
        there = {key for document in printed[verb] for key in keys(document)}
        wanted = {word for word in named[verb] if "_" in word}
        assert wanted <= there, (verb, wanted - there)
