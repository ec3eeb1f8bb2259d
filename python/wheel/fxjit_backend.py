"""What pip calls to build the package: scikit-build-core, after a look at build/release.

The library is built in that folder (cmake/FxjitBuiltLibrary.cmake). Where neither scripts/run nor
scripts/test has configured it, that is done here: on a machine that lacks something, CMake's words
go to a file, and one line says what to do.
"""

import os
import pathlib
import subprocess

from scikit_build_core import build
from scikit_build_core.build import *  # noqa: F403 - the other hooks, as they are

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What only scripts/run and scripts/test need; they turn it on.
LEFT_OUT = ("EXAMPLES", "TESTS", "BENCH")


def configure():
    if (ROOT / "build/release/build.ninja").exists():
        return
    log = ROOT / "build/configure.log"
    log.parent.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = ["cmake", "--preset", "release", *(f"-DFXJIT_{part}=OFF" for part in LEFT_OUT)]
    with log.open("w") as words:
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=words,
                                  stderr=subprocess.STDOUT, check=False)
            if done.returncode == 0:
                return
        except FileNotFoundError as error:
            words.write(f"{error}\n")
    raise SystemExit("fxjit: a compiler, CMake, LLVM or oneDNN is missing: run scripts/setup --for "
                     f"wheel in {ROOT}, then this again (details: {log})")


def get_requires_for_build_wheel(config_settings=None):
    configure()
    return build.get_requires_for_build_wheel(config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    configure()
    return build.build_wheel(wheel_directory, config_settings, metadata_directory)


def get_requires_for_build_editable(config_settings=None):
    configure()
    return build.get_requires_for_build_editable(config_settings)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    configure()
    return build.build_editable(wheel_directory, config_settings, metadata_directory)
