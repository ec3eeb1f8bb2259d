"""Writes layers.inc: inputs, parameters and outputs of torch.nn's layers.

Run with torch 2.13: python make_layers.py
Every number is a small multiple of 1/64, so that the text is exact; outputs are
printed with nine digits.
"""
import torch
import torch.nn as nn

from layers_format import dims, floats, grid, writer

CASES = [
    ("Linear", "Linear::create(4, 3)", nn.Linear(4, 3), (2, 4)),
    ("LinearNoBias", "Linear::create(4, 3, false)",
     nn.Linear(4, 3, bias=False), (2, 2, 4)),
    ("LayerNorm", "LayerNorm::create(4)", nn.LayerNorm(4), (3, 4)),
    ("LayerNorm2", "LayerNorm::create(Dims{2, 3}, 1e-3)",
     nn.LayerNorm((2, 3), eps=1e-3), (2, 2, 3)),
    ("RMSNorm", "RMSNorm::create(4, 1e-5)", nn.RMSNorm(4, eps=1e-5), (3, 4)),
    ("GroupNorm", "GroupNorm::create(2, 4)", nn.GroupNorm(2, 4), (2, 4, 3)),
    ("BatchNorm1d", "BatchNorm1d::create(3)", nn.BatchNorm1d(3), (2, 3)),
    ("BatchNorm2d", "BatchNorm2d::create(3, 1e-3)",
     nn.BatchNorm2d(3, eps=1e-3), (2, 3, 2, 2)),
    ("Conv1d", "Conv1d::create(2, 3, 3, ConvOptions{.padding = 1})",
     nn.Conv1d(2, 3, 3, padding=1), (1, 2, 5)),
    ("Conv2d", "Conv2d::create(2, 3, 3)", nn.Conv2d(2, 3, 3), (1, 2, 4, 4)),
    ("Conv2dOptions",
     "Conv2d::create(4, 2, Value::tuple({3, 1}), ConvOptions{.stride = 2, "
     ".padding = Value::tuple({1, 0}), .groups = 2, .bias = false})",
     nn.Conv2d(4, 2, (3, 1), stride=2, padding=(1, 0), groups=2, bias=False),
     (1, 4, 5, 3)),
    ("Conv2dSame", "Conv2d::create(1, 1, 3, ConvOptions{.padding = \"same\"})",
     nn.Conv2d(1, 1, 3, padding="same"), (1, 1, 4, 3)),
    ("ConvTranspose2d",
     "ConvTranspose2d::create(2, 3, 3, ConvOptions{.stride = 2, .padding = 1, "
     ".output_padding = 1})",
     nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1),
     (1, 2, 3, 3)),
    ("MaxPool2d", "MaxPool2d::create(2)", nn.MaxPool2d(2), (1, 2, 4, 4)),
    ("MaxPool2dOptions", "MaxPool2d::create(3, 2, 1, 1, true)",
     nn.MaxPool2d(3, 2, 1, ceil_mode=True), (1, 1, 6, 6)),
    ("AvgPool2d", "AvgPool2d::create(2)", nn.AvgPool2d(2), (1, 2, 4, 4)),
    ("AvgPool2dOptions", "AvgPool2d::create(3, 2, 1, false, false)",
     nn.AvgPool2d(3, 2, 1, count_include_pad=False), (1, 1, 5, 5)),
    ("AdaptiveAvgPool2d", "AdaptiveAvgPool2d::create(1)",
     nn.AdaptiveAvgPool2d(1), (1, 2, 3, 4)),
    ("AdaptiveAvgPool2dTuple",
     "AdaptiveAvgPool2d::create(Value::tuple({2, None}))",
     nn.AdaptiveAvgPool2d((2, None)), (1, 1, 3, 2)),
    ("BatchNorm3d", "BatchNorm3d::create(2)", nn.BatchNorm3d(2),
     (1, 2, 2, 1, 2)),
    ("Conv3d", "Conv3d::create(2, 2, 2)", nn.Conv3d(2, 2, 2), (1, 2, 3, 2, 3)),
    ("Conv3dOptions",
     "Conv3d::create(2, 4, Value::tuple({1, 2, 2}), ConvOptions{.stride = "
     "Value::tuple({1, 2, 1}), .padding = Value::tuple({0, 1, 1}), "
     ".groups = 2, .bias = false})",
     nn.Conv3d(2, 4, (1, 2, 2), stride=(1, 2, 1), padding=(0, 1, 1), groups=2,
               bias=False), (2, 2, 2, 3, 2)),
    ("ConvTranspose3d",
     "ConvTranspose3d::create(2, 1, 2, ConvOptions{.stride = 2, "
     ".output_padding = Value::tuple({1, 0, 1})})",
     nn.ConvTranspose3d(2, 1, 2, stride=2, output_padding=(1, 0, 1)),
     (1, 2, 2, 2, 1)),
    ("MaxPool3d", "MaxPool3d::create(2)", nn.MaxPool3d(2), (1, 2, 2, 4, 2)),
    ("MaxPool3dOptions",
     "MaxPool3d::create(Value::tuple({1, 3, 3}), 2, Value::tuple({0, 1, 1}), "
     "1, true)",
     nn.MaxPool3d((1, 3, 3), 2, (0, 1, 1), ceil_mode=True), (1, 1, 3, 4, 5)),
    ("AvgPool3d", "AvgPool3d::create(Value::tuple({1, 2, 2}))",
     nn.AvgPool3d((1, 2, 2)), (2, 3, 4, 2)),
    ("AvgPool3dOptions", "AvgPool3d::create(3, 2, 1, false, false)",
     nn.AvgPool3d(3, 2, 1, count_include_pad=False), (1, 1, 3, 4, 3)),
    ("AdaptiveAvgPool3d",
     "AdaptiveAvgPool3d::create(Value::tuple({1, None, 2}))",
     nn.AdaptiveAvgPool3d((1, None, 2)), (1, 2, 3, 2, 4)),
    ("ReLU", "ReLU::create()", nn.ReLU(), (7,)),
    ("ReLU6", "ReLU6::create()", nn.ReLU6(), (7,)),
    ("GELU", "GELU::create()", nn.GELU(), (7,)),
    ("GELUTanh", "GELU::create(\"tanh\")", nn.GELU("tanh"), (7,)),
    ("SiLU", "SiLU::create()", nn.SiLU(), (7,)),
    ("Tanh", "Tanh::create()", nn.Tanh(), (7,)),
    ("Sigmoid", "Sigmoid::create()", nn.Sigmoid(), (7,)),
    ("Softmax", "Softmax::create(-1)", nn.Softmax(-1), (2, 5)),
    ("LogSoftmax", "LogSoftmax::create(0)", nn.LogSoftmax(0), (2, 5)),
    ("Hardswish", "Hardswish::create()", nn.Hardswish(), (7,)),
    ("Hardsigmoid", "Hardsigmoid::create()", nn.Hardsigmoid(), (7,)),
    ("Mish", "Mish::create()", nn.Mish(), (7,)),
    ("LeakyReLU", "LeakyReLU::create(0.25)", nn.LeakyReLU(0.25), (7,)),
    ("ELU", "ELU::create(1.5)", nn.ELU(1.5), (7,)),
    ("PReLU", "PReLU::create()", nn.PReLU(), (7,)),
    ("PReLUChannels", "PReLU::create(3, 0.5)", nn.PReLU(3, 0.5), (2, 3, 4)),
    ("ZeroPad1d", "ZeroPad1d::create(2)", nn.ZeroPad1d(2), (2, 3)),
    ("ZeroPad2d", "ZeroPad2d::create(Value::tuple({1, 2, 0, -1}))",
     nn.ZeroPad2d((1, 2, 0, -1)), (1, 2, 3, 3)),
    ("ReflectionPad1d", "ReflectionPad1d::create(2)", nn.ReflectionPad1d(2),
     (1, 2, 4)),
    ("ReflectionPad2d", "ReflectionPad2d::create(Value::tuple({1, 2, 1, 0}))",
     nn.ReflectionPad2d((1, 2, 1, 0)), (1, 2, 3, 3)),
    ("ReplicationPad1d", "ReplicationPad1d::create(Value::tuple({1, 3}))",
     nn.ReplicationPad1d((1, 3)), (1, 2, 4)),
    ("ReplicationPad2d", "ReplicationPad2d::create(1)",
     nn.ReplicationPad2d(1), (1, 2, 3, 2)),
    ("PixelShuffle", "PixelShuffle::create(2)", nn.PixelShuffle(2),
     (1, 8, 2, 3)),
    ("PixelUnshuffle", "PixelUnshuffle::create(3)", nn.PixelUnshuffle(3),
     (2, 2, 3, 6)),
    ("GLU", "GLU::create(1)", nn.GLU(1), (2, 4, 3)),
    ("Softplus", "Softplus::create(2.0)", nn.Softplus(2.0), (7,)),
    ("Hardtanh", "Hardtanh::create(-0.5)", nn.Hardtanh(-0.5), (7,)),
    ("MaxPool1d", "MaxPool1d::create(3, 2, 1)", nn.MaxPool1d(3, 2, 1),
     (1, 2, 7)),
    ("AdaptiveAvgPool1d", "AdaptiveAvgPool1d::create(2)",
     nn.AdaptiveAvgPool1d(2), (1, 2, 5)),
    ("Upsample", "Upsample::create(None, 2)", nn.Upsample(scale_factor=2),
     (1, 2, 2, 3)),
    ("UpsampleBilinear", "Upsample::create(5, None, \"linear\")",
     nn.Upsample(5, mode="linear"), (1, 2, 3)),
    ("Unflatten", "Unflatten::create(1, Dims{2, -1})",
     nn.Unflatten(1, (2, -1)), (2, 6)),
    ("LogSigmoid", "LogSigmoid::create()", nn.LogSigmoid(), (7,)),
    ("Softsign", "Softsign::create()", nn.Softsign(), (7,)),
    ("Tanhshrink", "Tanhshrink::create()", nn.Tanhshrink(), (7,)),
    ("SELU", "SELU::create()", nn.SELU(), (7,)),
    ("CELU", "CELU::create(1.5)", nn.CELU(1.5), (7,)),
    ("Hardshrink", "Hardshrink::create()", nn.Hardshrink(), (7,)),
    ("Softshrink", "Softshrink::create(0.25)", nn.Softshrink(0.25), (7,)),
    ("Threshold", "Threshold::create(0.1, 20.0)", nn.Threshold(0.1, 20.0),
     (7,)),
    ("Softmin", "Softmin::create(1)", nn.Softmin(1), (2, 5)),
    ("Unfold", "Unfold::create(Value::tuple({2, 3}), 1, 1)",
     nn.Unfold((2, 3), padding=1), (1, 2, 3, 4)),
    ("Fold", "Fold::create(Value::tuple({3, 4}), 2)", nn.Fold((3, 4), 2),
     (1, 8, 6)),
    ("ChannelShuffle", "ChannelShuffle::create(2)", nn.ChannelShuffle(2),
     (1, 4, 2, 2)),
    ("LocalResponseNorm", "LocalResponseNorm::create(3, 0.5)",
     nn.LocalResponseNorm(3, 0.5), (1, 5, 2)),
    ("AvgPool1d", "AvgPool1d::create(3, 2, 1)", nn.AvgPool1d(3, 2, 1),
     (1, 2, 7)),
    ("AdaptiveMaxPool1d", "AdaptiveMaxPool1d::create(2)",
     nn.AdaptiveMaxPool1d(2), (1, 2, 5)),
    ("AdaptiveMaxPool2d", "AdaptiveMaxPool2d::create(2)",
     nn.AdaptiveMaxPool2d(2), (1, 2, 3, 4)),
    ("RNNCell", "RNNCell::create(3, 4, true, \"relu\")",
     nn.RNNCell(3, 4, nonlinearity="relu"), (2, 3)),
    ("GRUCell", "GRUCell::create(3, 4)", nn.GRUCell(3, 4), (2, 3)),
    ("Identity", "Identity::create()", nn.Identity(), (3,)),
    ("Dropout", "Dropout::create(0.5)", nn.Dropout(0.5), (3,)),
    ("Flatten", "Flatten::create()", nn.Flatten(), (2, 3, 2)),
    ("Sequential", "Sequential::create(Linear::create(3, 2), GELU::create())",
     nn.Sequential(nn.Linear(3, 2), nn.GELU()), (2, 3)),
]

write = writer("layers.inc")
write("// Made by make_layers.py with torch " + torch.__version__ + ".")
for name, code, module, shape in CASES:
    module.eval().double()
    for i, (key, value) in enumerate(module.state_dict().items()):
        if value.dtype == torch.double:
            fill = grid(value.numel(), i + 1).reshape(value.shape)
            if key.endswith("running_var"):
                fill = fill.abs() + 0.5
            value.copy_(fill)
    count = 1
    for n in shape:
        count *= n
    x = (grid(count) * 4).reshape(shape)
    y = module(x)
    write(f'{{"{name}", [] {{ return ModuleRef({code}); }},')
    printed = repr(module).replace("\n", "\\n")
    write(f' R"({printed})",')
    write(" {" + ", ".join(
        f'{{"{k}", {dims(v)}, {floats(v)}}}'
        for k, v in module.state_dict().items()
        if v.dtype == torch.double) + "},")
    write(f" {dims(x)}, {floats(x)}, {dims(y)}, {floats(y)}}},")
