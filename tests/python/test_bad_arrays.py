"""Objects whose __dlpack__ gives something else than it should."""

import ctypes

import fxjit
import numpy as np
import pytest
from cases import case_of, close, path_of

SIZES = (1, 3, 64, 64)


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def capsule_of(pointer, name):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                     ctypes.c_void_p]
    return make(pointer, name, None)


class Giving:
    """An object whose __dlpack__ gives what `give` gives."""

    def __init__(self, give):
        self.give = give

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        return self.give()


class Tensor(Giving):
    """Float32 of SIZES, with some fields of its description changed."""

    def __init__(self, shape=SIZES, strides=None, **fields):
        self.memory = np.ones(SIZES, np.float32)
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        self.described = DLTensor(
            data=self.memory.ctypes.data, device_type=1, ndim=len(shape), code=2, bits=32,
            lanes=1, shape=self.shape, strides=self.strides)
        for name, value in fields.items():
            setattr(self.described, name, value)
        super().__init__(lambda: capsule_of(ctypes.addressof(self.described), b"dltensor"))


def used_capsule():
    capsule = np.ones(SIZES, np.float32).__dlpack__()
    np.from_dlpack(Giving(lambda: capsule))
    return capsule


def broken():
    raise LookupError("no memory today")


def test_what_is_told_right_is_taken():
    model = fxjit.load(path_of("resnet"))
    expected = model(np.ones(SIZES, np.float32))
    close(model(Tensor()), expected)
    close(model(Tensor(strides=(0, 0, 0, 0))), expected)
    inputs, _ = case_of("resnet")
    wide = np.broadcast_to(inputs["x"][:, :1], SIZES)
    close(model(wide), model(wide.copy()))


@pytest.mark.parametrize("make, error, part", [
    (lambda: Giving(lambda: 5), TypeError, "Giving"),
    (lambda: Giving(broken), TypeError, "Giving"),
    (lambda: Giving(used_capsule), TypeError, "Giving"),
    (lambda: Giving(lambda: capsule_of(1234, b"another")), TypeError, "Giving"),
    (lambda: Tensor(device_type=2), TypeError, "another device"),
    (lambda: Tensor(data=None), TypeError, "without memory"),
    (lambda: Tensor(bits=7), TypeError, "type of 7 bits .*which fxjit lacks: convert it"),
    (lambda: Tensor(lanes=4), TypeError, "type of .* bits .*which fxjit lacks: convert it"),
    (lambda: Tensor(code=9), TypeError, "code 9.*which fxjit lacks: convert it"),
    (lambda: Tensor(ndim=-1), TypeError, "Tensor"),
    (lambda: Tensor((1,) * 100), TypeError, "100 dims"),
    (lambda: Tensor((1, 3, -64, 64)), ValueError, "negative size"),
    (lambda: Tensor((1, 3, 2**62, 64)), ValueError, "strides beyond"),
    (lambda: Tensor(strides=(2**62, 2**62, 2**62, 1)), ValueError, "strides beyond"),
    (lambda: Tensor(strides=(1, -1, 64, 1)), ValueError, "negative stride"),
])
def test_lies_are_refused(make, error, part):
    model = fxjit.load(path_of("resnet"))
    with pytest.raises(error, match=f"argument 0: .*{part}"):
        model(make())
