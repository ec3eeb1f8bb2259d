"""python -m fxjit --version"""

import argparse
import os
import pathlib
import sys

from . import version_text


def command():
    """The command fxjit, which lies beside this file in a wheel."""
    program = pathlib.Path(__file__).parent / "bin" / "fxjit"
    os.execv(program, [str(program), *sys.argv[1:]])


def main():
    parser = argparse.ArgumentParser(prog="python -m fxjit", description="fxjit for Python")
    parser.add_argument("--version", action="version", version=version_text())
    parser.parse_args()
    parser.print_help()


if __name__ == "__main__":
    main()
