"""Texts in front of all-MiniLM-L6-v2: what clients send becomes tokens, zeros behind the shorter
ones, which the model leaves out."""

import numpy as np
from fxjit.serving import BadRequest, Tensor
from tokenizers import BertWordPieceTokenizer

MOST_TOKENS = 256  # As sentence-transformers cuts texts for this model.


class Front:
    inputs = [Tensor("text", "BYTES", ("texts",))]
    outputs = [Tensor("embeddings", "FP32", ("texts", 384))]

    def __init__(self, folder):
        self._tokenizer = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True)
        self._tokenizer.enable_truncation(MOST_TOKENS)

    def before(self, inputs):
        if not len(inputs["text"]):
            raise BadRequest("input text: expected at least one text")
        try:
            texts = [text.decode() for text in inputs["text"]]
        except UnicodeDecodeError as error:
            raise BadRequest(f"input text: {error}") from None
        tokens = [one.ids for one in self._tokenizer.encode_batch(texts)]
        ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
        for row, own in zip(ids, tokens):
            row[:len(own)] = own
        return {"ids": ids}

    def after(self, outputs):
        return {"embeddings": outputs["embeddings"]}
