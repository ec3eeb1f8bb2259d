"""Packs the files of a wheel anew with zlib's strongest level: repack_wheel.py FILE.whl"""

import pathlib
import sys
import zipfile


def repack(wheel):
    packed = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(
            packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED, compresslevel=9)
    packed.replace(wheel)


if __name__ == "__main__":
    repack(pathlib.Path(sys.argv[1]))
