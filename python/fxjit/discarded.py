"""Weights whose memory was given back: a file holds them from then on."""

import mmap
import tempfile

import torch
from torch.utils.weak import WeakIdKeyDictionary

from .graphs import log

_ALIGNMENT = 64  # Bytes; as PyTorch's own memory.
_files = WeakIdKeyDictionary()  # Tensor -> the mapping that it lies in.


def discard(tensors):
    """Moves what these tensors hold to a file without a name in the folder for temporary files,
    and maps it in the place of their memory. They stay what they were, values included; memory
    that is not PyTorch's own stays where it is."""
    tensors = [t for t in tensors if _is_own(t)]
    if not tensors:
        return
    storages = {t.untyped_storage()._cdata: t.untyped_storage() for t in tensors}
    try:
        mapping, places = _written(storages)
    except OSError as error:
        log.warning("discard: the weights keep their memory: %s", error)
        return
    for tensor in tensors:
        storage = tensor.untyped_storage()
        held = torch.frombuffer(mapping, dtype=torch.uint8, count=storage.nbytes(),
                                offset=places[storage._cdata]).untyped_storage()
        place = (tensor.storage_offset(), tensor.size(), tensor.stride())
        tensor.data = torch.empty(0, dtype=tensor.dtype).set_(held, *place)
        _files[tensor] = mapping


def _is_own(tensor):
    storage = tensor.untyped_storage()
    return tensor not in _files and storage.resizable() and storage.nbytes() > 0


def _written(storages):
    """The mapped file, and where in it each storage lies."""
    places, end = {}, 0
    with tempfile.TemporaryFile(prefix="fxjit-weights-") as file:
        for key, storage in storages.items():
            places[key] = end
            file.seek(end)
            file.write(torch.empty(0, dtype=torch.uint8).set_(storage).numpy())
            end += -(-storage.nbytes() // _ALIGNMENT) * _ALIGNMENT
        file.truncate(end)
        file.flush()
        return mmap.mmap(file.fileno(), end, access=mmap.ACCESS_COPY), places
