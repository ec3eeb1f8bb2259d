"""fxjit's server with an engine of the benchmark: serve.py ENGINE MODEL FOLDER [--threads N]
[--instances N] [--packages FOLDER]

FOLDER is what make_models.py wrote. --packages: where onnxruntime and torch are, behind the packages
of this Python.
"""

import argparse
import dataclasses
import pathlib
import sys

from fxjit.serving import logs, runtime
from fxjit.serving.batch_plan import Padding
from fxjit.serving.batcher import BatchOptions
from fxjit.serving.front_door import FrontDoor
from fxjit.serving.load import make_served
from fxjit.serving.model_config import ModelConfig, ServeOptions
from fxjit.serving.repository import Repository
from fxjit.serving.server import Server


def loader(given):
    """Makes any source the benchmark's model, with the engine that was asked for."""
    from engines import ENGINES

    folder = given.folder / given.model
    texts = given.model == "minilm"
    config = ModelConfig(front="front.py" if texts else None, batching=True,
                         pad=Padding({"ids": 0}, given.multiple) if texts else None)

    def load(source, options):
        engine = ENGINES[given.engine](given.model, folder, given.threads)
        return make_served(dataclasses.replace(source, config=config, config_folder=folder),
                           options, engine)

    return load


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine")
    parser.add_argument("model")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--max-batch", type=int, default=32)
    parser.add_argument("--delay-ms", type=float, default=2)
    parser.add_argument("--multiple", type=int, default=16)
    parser.add_argument("--packages")
    given = parser.parse_args()
    if given.packages:
        sys.path.append(given.packages)
    logs.set_up("info")
    runtime.set_up()
    batch = BatchOptions(given.instances, given.max_batch, given.delay_ms / 1000, 4096)
    options = ServeOptions(batch, given.threads, True)
    repository = Repository([f"{given.model}={given.folder / given.model / 'model.pt2'}"], options,
                            loader(given))
    Server(repository, FrontDoor(repository), http=0, grpc_port=None).run()


if __name__ == "__main__":
    main()
