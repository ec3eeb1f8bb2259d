"""Small ONNX models, written field by field. Numbers of fields and types are those of onnx.proto."""

import struct

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
         "string": 8, "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13,
         "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20}


_LISTS = {float: (7, 6), int: (8, 7), str: (9, 8)}  # Field of the items, and kind.


def _varint(number):
    made = b""
    while number > 127:
        made += bytes([number & 127 | 128])
        number >>= 7
    return made + bytes([number])


def _field(number, content):
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    content = content.encode() if isinstance(content, str) else content
    if isinstance(content, float):
        return _varint(number << 3 | 5) + struct.pack("<f", content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _tensor_type(dtype, dims):
    shape = b"".join(_field(1, _field(2 if isinstance(dim, str) else 1, dim)) for dim in dims)
    return _field(1, _field(1, TYPES[dtype]) + _field(2, shape))


def _value(name, kind, dtype, dims):
    if kind == "maps":  # From this type to float32.
        to = _field(1, _field(1, TYPES["float32"]))
        maps = _field(5, _field(1, TYPES[dtype]) + _field(2, to))
        return _field(1, name) + _field(2, _field(4, _field(1, maps)))
    tensor = _tensor_type(dtype, dims)
    return _field(1, name) + _field(2, tensor if kind == "tensor" else _field(4, _field(1, tensor)))


def _attribute(name, value):
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    if isinstance(value, float):
        return _field(1, name) + _field(2, value) + _field(20, 1)
    if isinstance(value, str):
        return _field(1, name) + _field(4, value) + _field(20, 3)
    if hasattr(value, "dtype"):
        return _field(1, name) + _field(5, _tensor(value)) + _field(20, 4)
    number, kind = _LISTS[type(value[0])]
    return _field(1, name) + b"".join(_field(number, v) for v in value) + _field(20, kind)


def _texts(name, texts):
    return (_field(1, len(texts)) + _field(2, TYPES["string"])
            + b"".join(_field(6, text) for text in texts) + _field(8, name))


def _tensor(array):
    if array.dtype == object:
        return _texts("", array.tolist())
    return _constant("", TYPES[array.dtype.name], array)


def _constant(name, kind, array, sizes=None):
    sizes = array.shape if sizes is None else sizes
    return (b"".join(_field(1, size) for size in sizes) + _field(2, kind) + _field(8, name)
            + _field(9, array.tobytes()))


def write_model(path, nodes, inputs, outputs, opset=18, texts=None, constants=None):
    """`nodes`: op ("ai.onnx.ml:Scaler" of another domain), names of inputs and of outputs,
    attributes by name (tensors: arrays, of objects for strings). `inputs`, `outputs`: name to
    dtype and sizes, or to "sequence", dtype and sizes, or to "maps", dtype and None. `texts`: names
    to lists of strings, which are constants. `constants`: names to the number of their type, the
    array that has its bits and, where several numbers stand in a byte, their sizes."""
    graph = b""
    for op, taken, given, attributes in nodes:
        node = b"".join(_field(1, name) for name in taken)
        domain, op = op.split(":") if ":" in op else ("", op)
        node += b"".join(_field(2, name) for name in given) + _field(4, op) + _field(7, domain)
        graph += _field(1, node + b"".join(_field(5, _attribute(*one))
                                           for one in attributes.items()))
    graph += _field(2, "graph")
    graph += b"".join(_field(5, _texts(*one)) for one in (texts or {}).items())
    graph += b"".join(_field(5, _constant(name, *one)) for name, one in (constants or {}).items())
    for number, values in ((11, inputs), (12, outputs)):
        for name, facts in values.items():
            facts = facts if len(facts) == 3 else ("tensor", *facts)
            graph += _field(number, _value(name, *facts))
    opsets = {"": opset, "ai.onnx.ml": 4, "com.microsoft": 1}
    path.write_bytes(_field(1, 8) + _field(7, graph) + b"".join(
        _field(8, _field(1, domain) + _field(2, version)) for domain, version in opsets.items()))
    return path
