#!/usr/bin/env python3
"""Writes ../unicode_tables.cpp: how BERT's uncased normaliser treats each
code point.

The facts are asked of the reference itself, the `tokenizers` library, one code
point at a time: its category, decomposition and case tables come from three
different Unicode versions, so no single version of `unicodedata` reproduces
it. What differs from Python's `unicodedata` is counted on standard output.

    python make_unicode_tables.py [--check] [VOCAB_TXT]

With --check nothing is written; the run fails if the file would change. With
a vocabulary, the run also fails if one of its entries holds a mark that
canonical ordering could move, because the C++ tokenizer does not reorder.
"""

import argparse
import pathlib
import sys
import textwrap
import unicodedata

import tokenizers
from tokenizers import normalizers, pre_tokenizers

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "unicode_tables.cpp"
HANGUL = range(0xAC00, 0xAC00 + 11172)  # Decomposed by arithmetic in unicode.cpp.

NORMALIZER = normalizers.BertNormalizer()
PRE_TOKENIZER = pre_tokenizers.BertPreTokenizer()
NFD = normalizers.NFD()


def code_points():
    return (c for c in range(0x110000) if not 0xD800 <= c < 0xE000)


def classify(text):
    """(class, normalised text without the spaces around an ideograph)."""
    folded = NORMALIZER.normalize_str(text)
    if folded == "":
        return "kDrop", ""
    if folded == " ":
        return "kSpace", ""
    if folded.startswith(" "):
        assert folded[0] == folded[-1] == " " and len(folded) == 3
        return "kAlone", folded[1]
    words = [word for word, _ in PRE_TOKENIZER.pre_tokenize_str(f"a{folded}a")]
    if len(words) == 1:
        return "kLetter", folded
    assert len(folded) == 1 and words == ["a", folded, "a"], hex(ord(text))
    return "kAlone", folded


def hangul_matches_arithmetic(c, folded):
    s = c - 0xAC00
    jamo = [0x1100 + s // 588, 0x1161 + s % 588 // 28, 0x11A7 + s % 28]
    return folded == "".join(map(chr, jamo if s % 28 else jamo[:2]))


def collect():
    classes, single, several = [], [], []
    for c in code_points():
        kind, folded = classify(chr(c))
        if kind != "kLetter":
            classes.append((c, kind))
        if c in HANGUL:
            assert hangul_matches_arithmetic(c, folded), hex(c)
        elif folded and folded != chr(c):
            if len(folded) == 1:
                single.append((c, ord(folded)))
            else:
                several.append((c, [ord(f) for f in folded]))
    return classes, single, several


def class_ranges(classes):
    ranges = []
    for c, kind in classes:
        if ranges and ranges[-1][1:] == [c - 1, kind]:
            ranges[-1][1] = c
        else:
            ranges.append([c, c, kind])
    return ranges


def mapping_runs(single):
    """Greedy arithmetic progressions: first, count, step, target, target_step.

    Two runs never overlap, so the last run that starts at or before a code
    point is the only one that can hold it.
    """
    runs = []
    for c, target in single:
        if runs:
            first, count, step, start, target_step = runs[-1]
            if count == 1 and c - first <= 2 and 0 <= target - start <= 2:
                runs[-1] = [first, 2, c - first, start, target - start]
                continue
            if count > 1 and (c, target) == (
                first + count * step,
                start + count * target_step,
            ):
                runs[-1][1] += 1
                continue
        runs.append([c, 1, 1, target, 0])
    return runs


def report(classes):
    """How far the reference is from this Python's Unicode tables."""
    kinds = dict(classes)
    differing = 0
    for c in code_points():
        category = unicodedata.category(chr(c))
        dropped = category in ("Cc", "Cf", "Co", "Mn") and chr(c) not in "\t\n\r"
        if dropped != (kinds.get(c) == "kDrop"):
            differing += 1
    print(
        f"tokenizers {tokenizers.__version__}: {differing} code points are"
        f" dropped or kept unlike Unicode {unicodedata.unidata_version} has it"
    )


def movable_marks():
    """Kept code points that canonical ordering can move past another mark."""
    lowest = "\u0345"  # Combining class 240: every other mark sorts before it.
    for c in code_points():
        mark = chr(c)
        moved = NFD.normalize_str(f"a{lowest}{mark}")
        if moved != f"a{lowest}{NFD.normalize_str(mark)}":
            if NORMALIZER.normalize_str(mark):
                yield mark


def check_vocabulary(path):
    used = set(path.read_text(encoding="utf-8"))
    for mark in movable_marks():
        if mark in used:
            sys.exit(f"{path} holds U+{ord(mark):04X}: implement reordering")


def table(kind, name, items):
    lines = textwrap.wrap(
        ", ".join(items) + ",",
        width=80,
        initial_indent="    ",
        subsequent_indent="    ",
    )
    data = "\n".join(lines)
    return (
        f"constexpr {kind} {name}[] = {{\n    // clang-format off\n"
        f"{data}\n    // clang-format on\n}};\n"
    )


def render(classes, single, several):
    ranges = [
        f"{{0x{a:X},0x{b:X},{kind}}}" for a, b, kind in class_ranges(classes)
    ]
    runs = [
        f"{{0x{c:X},{n},{step},0x{t:X},{dt}}}"
        for c, n, step, t, dt in mapping_runs(single)
    ]
    expansions = []
    for c, targets in several:
        assert len(targets) <= 3, hex(c)
        listed = ",".join(f"0x{t:X}" for t in targets)
        expansions.append(f"{{0x{c:X},{len(targets)},{{{listed}}}}}")
    return f"""\
// Generated by reference/make_unicode_tables.py from tokenizers \
{tokenizers.__version__};
// not edited by hand.
#include "examples/minilm/unicode_tables.h"

namespace minilm::unicode {{
namespace {{

using enum CharClass;

{table("ClassRange", "kClasses", ranges)}
{table("MappingRun", "kRuns", runs)}
{table("Expansion", "kExpansions", expansions)}
}}  // namespace

std::span<const ClassRange> class_ranges() {{ return kClasses; }}
std::span<const MappingRun> mapping_runs() {{ return kRuns; }}
std::span<const Expansion> expansions() {{ return kExpansions; }}

}}  // namespace minilm::unicode
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("vocab", nargs="?", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.vocab:
        check_vocabulary(arguments.vocab)
    classes, single, several = collect()
    report(classes)
    text = render(classes, single, several)
    if not arguments.check:
        OUTPUT.write_text(text)
    elif OUTPUT.read_text() != text:
        sys.exit(f"{OUTPUT} is not what this script makes")


if __name__ == "__main__":
    main()
