"""Asks a server for the embeddings of texts: embed.py [--grpc] ADDRESS TEXT TEXT...

Prints how near each text is to the first.
"""

import argparse

import numpy as np


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="127.0.0.1:8080")
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--grpc", action="store_true")
    return parser.parse_args()


def main():
    given = arguments()
    if given.grpc:
        import tritonclient.grpc as protocol
    else:
        import tritonclient.http as protocol
    texts = np.array([text.encode() for text in given.texts], object)
    text = protocol.InferInput("text", texts.shape, "BYTES")
    text.set_data_from_numpy(texts)
    with protocol.InferenceServerClient(given.address) as client:
        vectors = client.infer("minilm", [text]).as_numpy("embeddings")
    for nearness, one in zip(vectors @ vectors[0], given.texts, strict=True):
        print(f"{nearness:7.4f}  {one}")


main()
