"""python -m fxjit --version"""

import argparse

from . import version_text


def main():
    parser = argparse.ArgumentParser(prog="python -m fxjit", description="fxjit for Python")
    parser.add_argument("--version", action="version", version=version_text())
    parser.parse_args()
    parser.print_help()


main()
