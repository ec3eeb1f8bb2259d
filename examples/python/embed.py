"""Finds the sentence nearest to the first: python embed.py MODEL_FOLDER SENTENCE SENTENCE...

MODEL_FOLDER has a sentence encoder of transformers, such as sentence-transformers'
all-MiniLM-L6-v2.
"""

import argparse

import torch
from transformers import AutoModel, AutoTokenizer


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("sentences", nargs="+")
    parser.add_argument("--check", action="store_true", help="compare with PyTorch's own result")
    return parser.parse_args()


def embed(model, tokens):
    """The mean of the words' vectors, of length one."""
    words = model(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(-1)
    return torch.nn.functional.normalize((words * mask).sum(1) / mask.sum(1))


@torch.inference_mode()
def main():
    options = arguments()
    tokenizer = AutoTokenizer.from_pretrained(options.folder, local_files_only=True)
    model = AutoModel.from_pretrained(options.folder, local_files_only=True).eval()
    tokens = tokenizer(options.sentences, padding=True, return_tensors="pt")
    fast = torch.compile(model, backend="fxjit")
    vectors = embed(fast, tokens)
    for nearness, sentence in zip(vectors @ vectors[0], options.sentences, strict=True):
        print(f"{nearness.item():7.4f}  {sentence}")
    if options.check:
        torch.testing.assert_close(vectors, embed(model, tokens), atol=1e-5, rtol=1e-3)
        print("as PyTorch")


main()
