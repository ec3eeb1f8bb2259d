"""Features of a recording, one vector for each 20 ms: python speech_features.py speech.wav

The model is a small wav2vec2 with seeded random weights; --model NAME takes one of transformers'.
"""

import argparse
import wave

import numpy
import torch
from transformers import Wav2Vec2Config, Wav2Vec2Model

RATE = 16000
SMALL = Wav2Vec2Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=128, conv_dim=(32,) * 7,
                       num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recording", help="a .wav file of 16-bit numbers")
    parser.add_argument("--model", help="a name or folder of transformers' wav2vec2 models")
    parser.add_argument("--check", action="store_true", help="compare with PyTorch's own result")
    return parser.parse_args()


def read(path):
    """One channel at 16 kHz, mean 0 and variance 1."""
    with wave.open(path) as file:
        if file.getsampwidth() != 2:
            raise SystemExit(f"{path}: expected 16-bit numbers")
        samples = numpy.frombuffer(file.readframes(file.getnframes()), "<i2")
        samples = samples.reshape(-1, file.getnchannels())[:, 0].astype(numpy.float32)
        length = len(samples) * RATE // file.getframerate()
    sound = torch.nn.functional.interpolate(torch.from_numpy(samples)[None, None], size=length,
                                            mode="linear")[0]
    return (sound - sound.mean()) / (sound.std() + 1e-7)


@torch.inference_mode()
def main():
    options = arguments()
    torch.manual_seed(0)
    model = (Wav2Vec2Model.from_pretrained(options.model) if options.model
             else Wav2Vec2Model(SMALL)).eval()
    sound = read(options.recording)
    fast = torch.compile(model, backend="fxjit")
    features = fast(sound).last_hidden_state
    print(f"{sound.shape[1] / RATE:.2f} s of sound, {features.shape[1]} vectors of "
          f"{features.shape[2]} numbers, the first begins with "
          f"{', '.join(f'{x:.4f}' for x in features[0, 0, :4])}")
    if options.check:
        torch.testing.assert_close(features, model(sound).last_hidden_state, atol=1e-4, rtol=1e-3)
        print("as PyTorch")


main()
