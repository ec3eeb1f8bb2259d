"""Weights whose memory was given back: a file holds them from then on."""

import logging
import mmap
import tempfile

import torch
from torch.utils.weak import WeakIdKeyDictionary

from ._fxjit import WeightCheck

log = logging.getLogger("fxjit")

_ALIGNMENT = 64  # Bytes; as PyTorch's own memory.
# Tensor -> the mapping that it lies in, and the address of its first element there.
_files = WeakIdKeyDictionary()


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
        _write_sample(tensor, mapping, places[storage._cdata])
        place = (tensor.storage_offset(), tensor.size(), tensor.stride())
        tensor.data = torch.empty(0, dtype=tensor.dtype).set_(held, *place)
        _files[tensor] = (mapping, tensor.data_ptr())


def is_in_file(tensor):
    """Whether discard() has moved the tensor's memory, and it lies there still."""
    return tensor in _files and _files[tensor][1] == tensor.data_ptr()


def _is_own(tensor):
    storage = tensor.untyped_storage()
    return not is_in_file(tensor) and storage.resizable() and storage.nbytes() > 0


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


def _write_sample(tensor, mapping, place):
    """Writes what WeightCheck looks at as it is: in a page of its own, as reading a few bytes of the
    file may map 2 MiB of it."""
    begin, count = WeightCheck.sample_of(tensor)
    begin += tensor.storage_offset() * tensor.element_size()
    held = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
    mapping[place + begin:place + begin + count] = held[begin:begin + count].numpy().tobytes()
