#!/usr/bin/env python3
"""Writes tokens.jsonl and embeddings.jsonl: what transformers and PyTorch make
of the texts in sample_texts.py.

    python make_reference.py [MODEL_DIR]

MODEL_DIR, or else the folder that FXJIT_MODEL_DIR names, holds config.json, model.safetensors, tokenizer.json and vocab.txt of
all-MiniLM-L6-v2. The tokenizer file asks for truncation to 128 tokens and for
padding; both are reset, and the model's own limit of 256 is used.
"""

import json
import os
import pathlib
import sys

import torch
import transformers

from sample_texts import embedding_texts, token_texts

FOLDER = pathlib.Path(__file__).resolve().parent
MAX_LENGTH = 256  # max_seq_length in sentence_bert_config.json.


def load_tokenizer(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        folder, local_files_only=True
    )
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend


def load_model(folder, dtype, attention):
    model = transformers.BertModel.from_pretrained(
        folder,
        local_files_only=True,
        dtype=dtype,
        attn_implementation=attention,
        add_pooling_layer=False,
    )
    return model.eval()


def encode(tokenizer, text):
    """(ids, whether some were cut off)."""
    ids = tokenizer.encode(text).ids
    if len(ids) <= MAX_LENGTH:
        return ids, False
    tokenizer.enable_truncation(MAX_LENGTH)
    ids = tokenizer.encode(text).ids
    tokenizer.no_truncation()
    return ids, True


def embed(model, batch):
    """Mean over the real tokens, then unit length; one row per list of ids."""
    longest = max(map(len, batch))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in batch])
    lengths = torch.tensor([len(row) for row in batch])
    mask = (torch.arange(longest) < lengths[:, None]).long()
    with torch.inference_mode():
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask[..., None].to(states.dtype)
    mean = (states * weights).sum(1) / weights.sum(1)
    return torch.nn.functional.normalize(mean, dim=1)


def write_lines(name, lines):
    path = FOLDER / name
    text = "".join(line + "\n" for line in lines)
    path.write_text(text, encoding="ascii")
    print(f"{name}: {len(text.splitlines())} lines, {len(text)} bytes")


def token_lines(tokenizer):
    for text in token_texts():
        ids, truncated = encode(tokenizer, text)
        entry = {"text": text, "truncated": truncated, "ids": ids}
        yield json.dumps(entry, separators=(",", ":"))


def embedding_lines(texts, batch, truth):
    for text, ids, row in zip(texts, batch, truth):
        head = json.dumps({"text": text, "ids": ids}, separators=(",", ":"))
        numbers = ",".join(f"{value:.9g}" for value in row.tolist())
        yield f'{head[:-1]},"embedding":[{numbers}]}}'


def main():
    given = sys.argv[1:] or [os.environ.get("FXJIT_MODEL_DIR")]
    if len(given) != 1 or not given[0]:
        sys.exit(__doc__)
    folder = pathlib.Path(given[0])
    torch.set_num_threads(1)
    tokenizer = load_tokenizer(folder)
    write_lines("tokens.jsonl", token_lines(tokenizer))

    texts = embedding_texts()
    batch = [encode(tokenizer, text)[0] for text in texts]
    exact = load_model(folder, torch.float64, "eager")
    truth = torch.cat([embed(exact, [ids]) for ids in batch])
    write_lines("embeddings.jsonl", embedding_lines(texts, batch, truth))

    single = load_model(folder, torch.float32, "sdpa")
    alone = torch.cat([embed(single, [ids]) for ids in batch])
    print(f"tokens: {sorted(map(len, batch))}")
    print(f"float32 - float64: at most {(alone - truth).abs().max():.3g}")
    padded = (embed(single, batch) - truth).abs().max()
    print(f"the same in one padded batch: at most {padded:.3g}")
    padded = (embed(exact, batch) - truth).abs().max()
    print(f"float64, one padded batch: at most {padded:.3g}")
    print(f"torch {torch.__version__}, transformers {transformers.__version__}")


if __name__ == "__main__":
    main()
