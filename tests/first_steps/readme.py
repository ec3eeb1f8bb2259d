"""The README's code, as the tests run it."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def commands():
    """Pairs of a command and the lines below it. What a script shows of the commands that it runs
    itself ("$ fxjit ...") belongs to those lines."""
    found = []
    for line in "".join(blocks("console")).splitlines():
        if re.match(r"\$ (scripts/|cmake )", line):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def _same_line(wanted, printed):
    """Equal but for the last digits of numbers, and for all digits of times."""
    if re.sub(NUMBER, "#", wanted) != re.sub(NUMBER, "#", printed):
        return False
    if re.search(r"\d (us|ms) ", wanted):
        return True
    return all(abs(float(a) - float(b)) <= 1e-4 * max(1, abs(float(a)))
               for a, b in zip(re.findall(NUMBER, wanted), re.findall(NUMBER, printed), strict=True))


def missing_line(wanted, printed):
    """The first wanted line that is not printed in its place, or None. "..." stands for any lines."""
    place, skips = 0, False
    lines = printed.splitlines()
    for line in wanted:
        if line == "...":
            skips = True
            continue
        while skips and place < len(lines) and not _same_line(line, lines[place]):
            place += 1
        if place == len(lines) or not _same_line(line, lines[place]):
            return line
        place, skips = place + 1, False
    return None if skips or place == len(lines) else f"nothing more, got {lines[place]}"
