"""Small ONNX models, written field by field. Numbers of fields and types are those of onnx.proto."""

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
         "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13,
         "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20}


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
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _tensor_type(dtype, dims):
    shape = b"".join(_field(1, _field(2 if isinstance(dim, str) else 1, dim)) for dim in dims)
    return _field(1, _field(1, TYPES[dtype]) + _field(2, shape))


def _value(name, kind, dtype, dims):
    tensor = _tensor_type(dtype, dims)
    return _field(1, name) + _field(2, tensor if kind == "tensor" else _field(4, _field(1, tensor)))


def _int_attribute(name, number):
    return _field(1, name) + _field(3, number) + _field(20, 2)


def write_model(path, nodes, inputs, outputs, opset=18):
    """`nodes`: op, names of inputs and of outputs, integers by name. `inputs`, `outputs`: name to
    dtype and sizes, or to "sequence", dtype and sizes."""
    graph = b""
    for op, taken, given, attributes in nodes:
        node = b"".join(_field(1, name) for name in taken)
        node += b"".join(_field(2, name) for name in given) + _field(4, op)
        graph += _field(1, node + b"".join(_field(5, _int_attribute(*one))
                                           for one in attributes.items()))
    graph += _field(2, "graph")
    for number, values in ((11, inputs), (12, outputs)):
        for name, facts in values.items():
            facts = facts if len(facts) == 3 else ("tensor", *facts)
            graph += _field(number, _value(name, *facts))
    path.write_bytes(_field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, opset)))
    return path
