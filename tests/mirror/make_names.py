"""Writes docs/torch_fx_names.md: every public name of torch.fx with the cases that
use it, or the reason why none does.

Run with a Python that has torch 2.13.0 and tabulate:

    python tests/mirror/make_names.py           # Writes the page.
    python tests/mirror/make_names.py --check   # Requires it unchanged.

Names come from torch_names.py, uses from touched_names.py, reasons from
names_without_cases.py.
"""

import contextlib
import fnmatch
import importlib
import io
import logging
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "torch_fx_names.md"
sys.path.insert(0, str(HERE))

import torch  # noqa: E402

import mirror  # noqa: E402
import touched_names  # noqa: E402
import torch_names  # noqa: E402
from names_without_cases import MODULES, NAMES  # noqa: E402

SHOWN = 4  # Cases listed for a name; further ones are counted.

HEADER = """\
# Every name of torch.fx, and where it is held to torch

`tests/mirror/make_names.py` writes this page: it walks the packages of torch {torch}
and records what each case of [tests/mirror](../tests/mirror/README.md) uses while it
runs under torch. Every case compares fxjit with what torch gave.

`area.case` stands for a case that calls, overrides, names, reads or writes the name
itself; "reached by" for one whose calls lead there inside of torch. A name that no case
comes to has the reason instead. [torch_fx.md](torch_fx.md) says what each name is called
here and what differs.

{counts}
"""


def is_absent(module):
    return any(fnmatch.fnmatchcase(module, pattern) for pattern in MODULES)


def record(names):
    """Runs every case and notes in `names` what it uses."""
    for path in sorted(HERE.glob("cases_*.py")):
        importlib.import_module(path.stem)
    recording = touched_names.Recording(names)
    logging.disable()
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        for area, name, function in mirror.CASES:
            torch.manual_seed(0)
            recording.run(f"{area}.{name}", function, mirror.Recorder())


def cases_text(cases):
    listed = sorted(cases)
    more = len(listed) - SHOWN
    return ", ".join(listed[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def reason_for(name, unused):
    for pattern, reason in NAMES.items():
        if fnmatch.fnmatchcase(name.path, pattern):
            unused.discard(pattern)
            return reason
    sys.exit(f"{name.path}: no case uses it, and names_without_cases.py has no reason")


def text_for(name, unused):
    if name.cases:
        return cases_text(name.cases)
    if name.reached:
        return "reached by " + cases_text(name.reached)
    return "none: " + reason_for(name, unused)


def module_tables(modules, unused):
    for module, names in modules.items():
        if not names or is_absent(module):
            continue
        yield f"\n## {module}\n\n| name | cases |\n|---|---|\n"
        for name in names:
            short = name.path.removeprefix(module + ".")
            yield f"| `{short}` | {text_for(name, unused)} |\n"


def absent_table(modules):
    yield "\n## Modules without a counterpart\n\n| module | names | reason |\n|---|---|---|\n"
    for pattern, reason in MODULES.items():
        count = 0
        for module, names in modules.items():
            if fnmatch.fnmatchcase(module, pattern):
                count += len(names)
        if count == 0:
            sys.exit(f"no module with names is called {pattern}")
        yield f"| `{pattern}` | {count} | {reason} |\n"


def counts_text(modules):
    names = [n for m, own in modules.items() if not is_absent(m) for n in own]
    used = sum(bool(n.cases) for n in names)
    reached = sum(bool(n.reached and not n.cases) for n in names)
    absent = sum(len(own) for m, own in modules.items() if is_absent(m))
    return (
        f"{len(mirror.CASES)} cases. Of {len(names)} names {used} are used by cases, "
        f"{reached} are reached, {len(names) - used - reached}\nhave a reason; "
        f"{absent} more belong to modules that have no counterpart."
    )


def page():
    modules = {
        m.__name__: list(torch_names.names_of(m)) for m in torch_names.modules()
    }
    record([name for names in modules.values() for name in names])
    unused = set(NAMES)
    tables = "".join(module_tables(modules, unused))
    if unused:
        sys.exit(f"reasons that stand for no name, or for names with cases: {unused}")
    version = torch.__version__.split("+")[0]
    header = HEADER.format(torch=version, counts=counts_text(modules))
    return header + tables + "".join(absent_table(modules))


def main():
    if torch.__version__.split("+")[0] != "2.13.0":
        sys.exit(f"torch 2.13.0 is needed, this is {torch.__version__}")
    text = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text() != text:
            sys.exit(f"{PAGE.name} is not what make_names.py writes")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
