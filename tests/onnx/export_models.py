"""Exports the models of tests/import to ONNX with torch's exporter.

    PYTHONPATH=/tmp/onnxscript python tests/onnx/export_models.py FOLDER [NAME...]

writes FOLDER/NAME.onnx, with the weights in the file, from tests/import/models/NAME.pt2. The
exporter needs the packages onnx and onnxscript. Those that torch cannot export are named with
the reason.
"""

import argparse
import io
import pathlib
import re
import sys
import zipfile

import torch
from torch.utils._pytree import register_pytree_node

REGISTERED = set()
MODELS = pathlib.Path(__file__).resolve().parent.parent / 'import/models'


def register(names):
    """Stand-ins for classes of results that packages define, which are dicts with keys in order."""
    for name in names - REGISTERED:
        register_pytree_node(
            type(name.rpartition('.')[2], (dict,), {}), lambda d: (list(d.values()), list(d)),
            lambda values, keys: dict(zip(keys, values)), serialized_type_name=name)
        REGISTERED.add(name)


def read(path):
    """torch's loader wants an entry that make_models.py leaves out."""
    whole = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(whole, 'a') as archive:
        folder = archive.namelist()[0].split('/')[0]
        archive.writestr(f'{folder}/data/sample_inputs/model.pt', b'')
        outline = archive.read(f'{folder}/models/model.json').decode()
    register(set(re.findall(r'transformers\.[\w.]+Output\w*', outline)))
    whole.seek(0)
    return torch.export.load(whole)


def without_places(model):
    """The model without stack traces, which name files of this machine."""
    for part in (model, model.graph, *model.graph.node, *model.graph.value_info,
                 *model.graph.initializer, *model.graph.input, *model.graph.output):
        del part.metadata_props[:]
    for node in model.graph.node:
        node.ClearField('doc_string')
    return model


def exported(path):
    program = read(path)
    made = torch.onnx.export(program, dynamo=True, verbose=False, external_data=False)
    return without_places(made.model_proto)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path in sorted(MODELS.glob('*.pt2')):
        if options.names and path.stem not in options.names:
            continue
        try:
            model = exported(path).SerializeToString()
            (options.folder / f'{path.stem}.onnx').write_bytes(model)
        except Exception as error:  # The exporter's own are of many types.
            causes = str(error.__cause__ or error).strip().splitlines()
            print(f'{path.stem}: not exported: {causes[0][:200] if causes else error!r}')
            failed += 1
    sys.exit(1 if failed and options.names else 0)


if __name__ == '__main__':
    main()
