"""Exports minilm.pt2, the program of all-MiniLM-L6-v2 without its weights, and PyTorch's answer.

    build/venv/bin/python examples/exported/make_exported.py

The names of its parameters are those of the published model.safetensors, so that
`fxjit run minilm.pt2 --weights model.safetensors` finds them. It takes the tokens of sentences,
zeros behind the shorter ones, and gives their embeddings and how similar each is to each.
minilm.safetensors holds the tokens of two sentences and the answer in double precision.
"""

import os
import pathlib
import sys

import torch
from safetensors.torch import save_file
from torch.export import Dim

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / 'tests' / 'import'))

from make_models import define_torchvision, rewrite  # noqa: E402

SENTENCES = ['A cat sits on the mat.', 'A kitten rests on a rug.']


def model_folder():
    cache = os.environ.get('XDG_CACHE_HOME', '')
    cache = cache if cache.startswith('/') else os.path.expanduser('~/.cache')
    return (os.environ.get('FXJIT_MODEL_DIR')
            or os.path.join(cache, 'fxjit/models/all-minilm-l6-v2'))


def sentence_encoder(folder):
    from transformers import BertModel

    class SentenceEncoder(BertModel):
        """A subclass, so that names of parameters stay those of the published file."""

        def forward(self, ids):
            mask = (ids != 0).long()
            hidden = super().forward(input_ids=ids, attention_mask=mask)[0]
            weights = mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * weights).sum(1) / weights.sum(1)
            embeddings = torch.nn.functional.normalize(mean, dim=1)
            return {'embeddings': embeddings, 'similarity': embeddings @ embeddings.t()}

    return SentenceEncoder.from_pretrained(folder, add_pooling_layer=False,
                                           attn_implementation='sdpa').eval()


def main():
    define_torchvision()
    from transformers import AutoTokenizer
    folder = model_folder()
    ids = AutoTokenizer.from_pretrained(folder)(
        SENTENCES, padding=True, return_tensors='pt')['input_ids']
    model = sentence_encoder(folder)
    program = torch.export.export(model, (ids,), dynamic_shapes={
        'ids': {0: Dim('sentences', max=1024), 1: Dim('tokens', max=512)}})
    torch.export.save(program, HERE / 'minilm.pt2')
    rewrite(HERE / 'minilm.pt2', without=set(model.state_dict()))
    with torch.no_grad():
        answer = model.double()(ids)
    save_file({'ids': ids, **{name: value.contiguous() for name, value in answer.items()}},
              HERE / 'minilm.safetensors')


if __name__ == '__main__':
    main()
