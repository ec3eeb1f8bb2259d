"""Writes expected/<area>.txt: what torch.fx prints and computes for the cases.

Run with a Python that has torch 2.13.0 and tabulate:

    python tests/mirror/make_reference.py          # All areas.
    python tests/mirror/make_reference.py trace    # Some.

README.md says how cases are written and what the files hold.
"""

import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import torch  # noqa: E402

import mirror  # noqa: E402


def areas_asked_for(arguments):
    """The areas named; all for none."""
    known = sorted(
        path.stem.removeprefix("cases_") for path in HERE.glob("cases_*.py")
    )
    unknown = set(arguments) - set(known)
    if unknown:
        sys.exit(f"unknown areas {sorted(unknown)}; there are {known}")
    return arguments or known


def run(function):
    torch.manual_seed(0)
    recorder = mirror.Recorder()
    function(recorder)
    return recorder.sections


def write(area):
    importlib.import_module("cases_" + area)
    lines = [f"# What torch {torch.__version__.split('+')[0]} gives for "
             f"cases_{area}.py; written by make_reference.py.\n"]
    for of, name, function in mirror.CASES:
        if of != area:
            continue
        lines.append(f"=== {name}\n")
        try:
            sections = run(function)
        except Exception as error:
            error.add_note(f"in case {area}.{name}")
            raise
        for kind, text in sections:
            lines.append(f"--- {kind}\n")
            lines += [f"|{line}\n" for line in text.split("\n")]
    (HERE / "expected" / f"{area}.txt").write_text("".join(lines))
    return sum(line.startswith("=== ") for line in lines)


def main():
    if torch.__version__.split("+")[0] != "2.13.0":
        sys.exit(f"torch 2.13.0 is needed, this is {torch.__version__}")
    counts = {area: write(area) for area in areas_asked_for(sys.argv[1:])}
    for area, count in counts.items():
        print(f"{area}: {count} cases")
    print(f"{sum(counts.values())} cases")


if __name__ == "__main__":
    main()
