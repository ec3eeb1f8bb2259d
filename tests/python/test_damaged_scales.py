"""Scales and zero points that are absent or have another type or size are refused by node."""

import fxjit
import pytest
from onnx_files import write_model

U8, I8, F32 = "uint8", "int8", "float32"
X = (U8, [2, 3])
REAL = (F32, [2, 3])
W = (I8, [3, 4])
SCALE, ZERO, WEIGHT_ZERO = (F32, []), (U8, []), (I8, [])
ADD = "com.microsoft:QLinearAdd"
DYNAMIC = "com.microsoft:DynamicQuantizeMatMul"
TO_FLOAT = "com.microsoft:MatMulIntegerToFloat"
LSTM = "com.microsoft:DynamicQuantizeLSTM"
GATES = [(F32, [5, 1, 3]), (I8, [1, 3, 8]), (I8, [1, 2, 8]), None, None, None, None, None]

DAMAGED = {
    "scale_absent": ("DequantizeLinear", [X], "input 1 is missing"),
    "scale_of_integers": ("DequantizeLinear", [X, ("int32", [])],
                          "input 1: expected a scale of floats, got int32"),
    "scales_of_another_dim": ("DequantizeLinear", [X, (F32, [4]), (U8, [4])],
                              "input 1: expected one number or 3, got 4"),
    "zero_of_another_type": ("DequantizeLinear", [X, SCALE, WEIGHT_ZERO],
                             "input 2: expected a zero point of uint8, got int8"),
    "zero_of_floats": ("DequantizeLinear", [X, SCALE, SCALE],
                       "input 2: expected a zero point of uint8, got float32"),
    "zeros_of_another_dim": ("DequantizeLinear", [X, (F32, [3]), (U8, [2])],
                             "input 2: expected one number or 3, got 2"),
    "scales_with_dims": ("DequantizeLinear", [X, (F32, [2, 3])], "at most one dim"),
    "quantizing_by_nothing": ("QuantizeLinear", [REAL], "input 1 is missing"),
    "quantizing_by_integers": ("QuantizeLinear", [REAL, ("int32", []), ZERO],
                               "input 1: expected a scale of floats, got int32"),
    "quantizing_to_floats": ("QuantizeLinear", [REAL, SCALE, SCALE],
                             "the type float32 is not supported"),
    "quantizing_by_others": ("QuantizeLinear", [REAL, (F32, [4]), (U8, [4])],
                             "input 1: expected one number or 3, got 4"),
    "product_zero_of_another_type": ("MatMulInteger", [X, W, WEIGHT_ZERO, WEIGHT_ZERO],
                                     "input 2: expected a zero point of uint8, got int8"),
    "product_zeros_of_another_dim": ("MatMulInteger", [X, W, ZERO, (I8, [3])],
                                     "input 3: expected one number or 4, got 3"),
    "product_without_scale": ("QLinearMatMul",
                              [X, None, ZERO, W, SCALE, WEIGHT_ZERO, SCALE, ZERO],
                              "input 1 is missing"),
    "product_scale_of_integers": ("QLinearMatMul",
                                  [X, ("int32", []), ZERO, W, SCALE, WEIGHT_ZERO, SCALE, ZERO],
                                  "input 1: expected a scale of floats, got int32"),
    "filter_zeros_of_another_dim": ("ConvInteger",
                                    [(U8, [1, 2, 4, 4]), (I8, [3, 2, 3, 3]), ZERO, (I8, [2])],
                                    "input 3: expected one number or 3, got 2"),
    "sum_without_scale": (ADD, [X, None, ZERO, X, SCALE, ZERO, SCALE, ZERO],
                          "input 1 is missing"),
    "sum_scale_of_bytes": (ADD, [X, ZERO, ZERO, X, SCALE, ZERO, SCALE, ZERO],
                           "input 1: expected a scale of floats, got uint8"),
    "sum_zero_of_floats": (ADD, [X, SCALE, SCALE, X, SCALE, ZERO, SCALE, ZERO],
                           "input 2: expected a zero point of uint8, got float32"),
    "sum_scales": (ADD, [X, (F32, [3]), ZERO, X, SCALE, ZERO, SCALE, ZERO],
                   "input 1: expected one number, got 3"),
    "dynamic_scale_of_integers": (DYNAMIC, [REAL, W, ("int32", []), WEIGHT_ZERO],
                                  "input 2: expected a scale of floats, got int32"),
    "dynamic_zero_of_floats": (DYNAMIC, [REAL, W, SCALE, SCALE],
                               "input 3: expected a zero point of int8, got float32"),
    "real_product_without_scale": (TO_FLOAT, [X, W, None, SCALE], "input 2 is missing"),
    "layer_without_scale": (LSTM, [*GATES, None, None, (F32, [1]), (I8, [1])],
                            "input 8 is missing"),
    "layer_zero_of_another_type": (LSTM, [*GATES, (F32, [1]), (U8, [1]), (F32, [1]), (I8, [1])],
                                   "input 9: expected a zero point of int8, got uint8"),
    "layer_scales_of_a_column": (LSTM, [*GATES, (F32, [8]), (I8, [1]), (F32, [1]), (I8, [1])],
                                 "input 8: expected a number for each direction or column"),
}
WHOLE = {
    "one_number_with_a_dim": ("DequantizeLinear", [X, (F32, [1]), (U8, [1])]),
    "columns": ("DequantizeLinear", [X, (F32, [3]), (U8, [3])]),
    "integers_by_integers": ("QuantizeLinear", [("int32", [2, 3]), ("int32", []), ZERO]),
    "product": ("MatMulInteger", [X, W, (U8, [2]), (I8, [4])]),
    "sum": (ADD, [X, (F32, [1]), (U8, [1]), X, SCALE, ZERO, SCALE, ZERO]),
    "layer": (LSTM, [*GATES, (F32, [1]), (I8, [1]), (F32, [1, 8]), (I8, [1, 8])]),
}


def load(folder, op, inputs):
    names = ["" if one is None else f"i{i}" for i, one in enumerate(inputs)]
    attributes = {"hidden_size": 2} if op == LSTM else {}
    node = (op, names, ["y"], attributes)
    given = {name: one for name, one in zip(names, inputs, strict=True) if name}
    return fxjit.load(write_model(folder / "model.onnx", [node], given, {"y": (F32, [])}))


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_ones_are_refused_by_node(tmp_path, case):
    op, inputs, message = DAMAGED[case]
    with pytest.raises(ValueError, match="model.onnx") as raised:
        load(tmp_path, op, inputs)
    assert message in str(raised.value)
    assert f"graph.node[0] {op.split(':')[-1]}" in str(raised.value)


@pytest.mark.parametrize("case", WHOLE)
def test_whole_ones_are_loaded(tmp_path, case):
    load(tmp_path, *WHOLE[case])
