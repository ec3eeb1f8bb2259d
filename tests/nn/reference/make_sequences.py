"""Writes sequences.inc: attention and recurrent layers of torch.nn.

Run with torch 2.13: python make_sequences.py
Inputs and parameters are small multiples of 1/64; outputs have nine digits.
"""
import torch
import torch.nn as nn
from layers_format import dims, floats, grid, writer

NONE = 'None'
# Its kernel for inference has other rules for masks.
torch.backends.mha.set_fastpath_enabled(False)


def mha(*args, **kw):
    return nn.MultiheadAttention(*args, **kw)


X, Y, S = (5, 2, 6), (4, 2, 6), (4, 3)
PAD = torch.tensor([[False, True, False, False, True],
                    [True, False, False, False, False]])
LATE = torch.tensor([[False, False, False, True, True], [False] * 5])
FIRST = torch.zeros(5, 5, dtype=torch.bool)
FIRST[0] = True  # Nothing is left.
CAUSAL = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
CLASSES = torch.tensor([1, 0, 2, 1])
HALF = (grid(12, 9) / 2 + 0.5).reshape(4, 3)
LEFT = torch.tensor([2, 0])
SIGNS = torch.tensor([1., -1., 1., -1.])
BIAS = (grid(25, 3) * 2).reshape(5, 5)
EACH = (grid(100, 4) * 2).reshape(4, 5, 5)
# name, code, module, shapes of inputs, further inputs by keyword, plain keywords
CASES = [
    ("Attention", "MultiheadAttention::create(6, 2)", mha(6, 2), [X, X, X],
     {}, {}),
    ("AttentionAcross",
     "MultiheadAttention::create(6, 3, MultiheadOptions{.bias = false})",
     mha(6, 3, bias=False), [Y, X, X], {}, {"average_attn_weights": False}),
    ("AttentionWidths",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.kdim = 3, .vdim = 4, "
     ".batch_first = true})",
     mha(6, 2, kdim=3, vdim=4, batch_first=True),
     [(2, 4, 6), (2, 5, 3), (2, 5, 4)], {}, {"need_weights": False}),
    ("AttentionPadded",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.batch_first = true})",
     mha(6, 2, batch_first=True), [(2, 5, 6)] * 3,
     {"key_padding_mask": PAD, "attn_mask": BIAS}, {}),
    ("AttentionMasks", "MultiheadAttention::create(6, 2)", mha(6, 2),
     [X, X, X], {"attn_mask": EACH}, {"need_weights": False}),
    ("AttentionCausal", "MultiheadAttention::create(6, 2)", mha(6, 2),
     [X, X, X], {"attn_mask": CAUSAL},
     {"need_weights": False, "is_causal": True}),
    ("AttentionUnbatched", "MultiheadAttention::create(6, 2)", mha(6, 2),
     [(5, 6)] * 3, {}, {}),
    ("AttentionBiasKV",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.add_bias_kv = true})",
     mha(6, 2, add_bias_kv=True), [Y, X, X], {"key_padding_mask": PAD}, {}),
    ("AttentionZero",
     "MultiheadAttention::create(6, 3, MultiheadOptions{.add_zero_attn = true, "
     ".batch_first = true})",
     mha(6, 3, add_zero_attn=True, batch_first=True), [(2, 5, 6)] * 3,
     {"attn_mask": BIAS}, {"need_weights": False}),
    ("AttentionBiasKVAndZero",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.bias = false, "
     ".add_bias_kv = true, .add_zero_attn = true, .kdim = 3})",
     mha(6, 2, bias=False, add_bias_kv=True, add_zero_attn=True, kdim=3),
     [X, (5, 2, 3), X], {"attn_mask": EACH},
     {"average_attn_weights": False}),
    ("AttentionBiasKVCausal",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.add_bias_kv = true})",
     mha(6, 2, add_bias_kv=True), [X, X, X], {"attn_mask": CAUSAL},
     {"need_weights": False, "is_causal": True}),
    ("AttentionBiasKVCausalWeights",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.add_bias_kv = true})",
     mha(6, 2, add_bias_kv=True), [X, X, X], {"attn_mask": CAUSAL},
     {"is_causal": True}),
    ("AttentionBiasKVUnbatched",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.add_bias_kv = true, "
     ".add_zero_attn = true})",
     mha(6, 2, add_bias_kv=True, add_zero_attn=True), [(5, 6)] * 3, {}, {}),
    ("AttentionBiasKVNothing",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.add_bias_kv = true})",
     mha(6, 2, add_bias_kv=True), [(3, 1, 6), (0, 1, 6), (0, 1, 6)], {}, {}),
    ("RNN", "RNN::create(3, 4)", nn.RNN(3, 4), [(5, 2, 3)], {}, {}),
    ("RNNRelu",
     "RNN::create(3, 4, RecurrentOptions{.num_layers = 2, "
     ".nonlinearity = \"relu\"})",
     nn.RNN(3, 4, 2, nonlinearity="relu"), [(5, 2, 3), (2, 2, 4)], {}, {}),
    ("LSTM", "LSTM::create(3, 4)", nn.LSTM(3, 4), [(5, 2, 3)], {}, {}),
    ("LSTMBoth",
     "LSTM::create(3, 4, RecurrentOptions{.num_layers = 2, .batch_first = "
     "true, .bidirectional = true})",
     nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), [(2, 5, 3)], {},
     {}),
    ("LSTMState", "LSTM::create(3, 4, RecurrentOptions{.bias = false})",
     nn.LSTM(3, 4, bias=False), [(5, 2, 3), [(1, 2, 4), (1, 2, 4)]], {}, {}),
    ("LSTMProjected",
     "LSTM::create(3, 4, RecurrentOptions{.num_layers = 2, .bidirectional = "
     "true, .proj_size = 2})",
     nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2),
     [(5, 2, 3), [(4, 2, 2), (4, 2, 4)]], {}, {}),
    ("LSTMUnbatched", "LSTM::create(3, 4)", nn.LSTM(3, 4), [(5, 3)], {}, {}),
    ("GRU", "GRU::create(3, 4)", nn.GRU(3, 4), [(5, 2, 3), (1, 2, 4)], {}, {}),
    ("GRUBoth",
     "GRU::create(3, 4, RecurrentOptions{.num_layers = 2, .bidirectional = "
     "true})",
     nn.GRU(3, 4, 2, bidirectional=True), [(1, 1, 3)], {}, {}),
    ("RNNCellZeros", "RNNCell::create(3, 4)", nn.RNNCell(3, 4), [(2, 3)], {},
     {}),
    ("LSTMCell", "LSTMCell::create(3, 4)", nn.LSTMCell(3, 4),
     [(2, 3), [(2, 4), (2, 4)]], {}, {}),
    ("LSTMCellUnbatched", "LSTMCell::create(3, 4, false)",
     nn.LSTMCell(3, 4, bias=False), [(3,)], {}, {}),
    ("GRUCellState", "GRUCell::create(3, 4)", nn.GRUCell(3, 4),
     [(2, 3), (2, 4)], {}, {}),
    ("Bilinear", "Bilinear::create(3, 4, 2)", nn.Bilinear(3, 4, 2),
     [(5, 3), (5, 4)], {}, {}),
    ("CosineSimilarity", "CosineSimilarity::create(1, 1e-6)",
     nn.CosineSimilarity(1, 1e-6), [(3, 4), (3, 4)], {}, {}),
    ("PairwiseDistance", "PairwiseDistance::create(1.0, 1e-6, true)",
     nn.PairwiseDistance(1.0, 1e-6, True), [(3, 4), (3, 4)], {}, {}),
    ("InstanceNorm1d", "InstanceNorm1d::create(3)", nn.InstanceNorm1d(3),
     [(2, 3, 4)], {}, {}),
    ("InstanceNorm2d", "InstanceNorm2d::create(3, 1e-3, 0.1, true)",
     nn.InstanceNorm2d(3, 1e-3, affine=True), [(2, 3, 2, 2)], {}, {}),
    ("InstanceNormUnbatched", "InstanceNorm2d::create(3, 1e-5, 0.1, true)",
     nn.InstanceNorm2d(3, affine=True), [(3, 2, 4)], {}, {}),
    ("EncoderLayer",
     "TransformerEncoderLayer::create(4, 2, "
     "TransformerOptions{.dim_feedforward = 6, .batch_first = true})",
     nn.TransformerEncoderLayer(4, 2, 6, batch_first=True), [(2, 3, 4)], {},
     {}),
    ("EncoderLayerNormFirst",
     "TransformerEncoderLayer::create(4, 2, "
     "TransformerOptions{.dim_feedforward = 6, .activation = \"gelu\", "
     ".norm_first = true})",
     nn.TransformerEncoderLayer(4, 2, 6, activation="gelu", norm_first=True),
     [(3, 2, 4)], {}, {}),
    ("EncoderLayerMasks",
     "TransformerEncoderLayer::create(6, 2, "
     "TransformerOptions{.dim_feedforward = 8, .batch_first = true})",
     nn.TransformerEncoderLayer(6, 2, 8, batch_first=True), [(2, 5, 6)],
     {"src_mask": BIAS, "src_key_padding_mask": PAD}, {}),
    ("DecoderLayer",
     "TransformerDecoderLayer::create(6, 2, "
     "TransformerOptions{.dim_feedforward = 8})",
     nn.TransformerDecoderLayer(6, 2, 8), [X, Y], {"tgt_mask": CAUSAL}, {}),
    ("DecoderLayerNormFirst",
     "TransformerDecoderLayer::create(6, 3, "
     "TransformerOptions{.dim_feedforward = 8, .activation = \"gelu\", "
     ".layer_norm_eps = 1e-3, .batch_first = true, .norm_first = true, "
     ".bias = false})",
     nn.TransformerDecoderLayer(6, 3, 8, activation="gelu",
                                layer_norm_eps=1e-3, batch_first=True,
                                norm_first=True, bias=False),
     [(2, 5, 6), (2, 4, 6)], {}, {}),
    ("Encoder",
     "TransformerEncoder::create(TransformerEncoderLayer::create(4, 2, "
     "TransformerOptions{.dim_feedforward = 5, .batch_first = true}), 3)",
     nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 5,
                                                      batch_first=True), 3),
     [(2, 3, 4)], {}, {}),
    ("EncoderNormMasks",
     "TransformerEncoder::create(TransformerEncoderLayer::create(6, 2, "
     "TransformerOptions{.dim_feedforward = 4, .activation = \"gelu\", "
     ".norm_first = true}), 2, LayerNorm::create(6, 1e-3))",
     nn.TransformerEncoder(
         nn.TransformerEncoderLayer(6, 2, 4, activation="gelu",
                                    norm_first=True), 2,
         nn.LayerNorm(6, 1e-3)), [X],
     {"mask": BIAS, "src_key_padding_mask": PAD}, {}),
    ("EncoderCausal",
     "TransformerEncoder::create(TransformerEncoderLayer::create(6, 3, "
     "TransformerOptions{.dim_feedforward = 4}), 2)",
     nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 3, 4), 2), [(5, 6)],
     {"mask": CAUSAL}, {"is_causal": True}),
    ("Decoder",
     "TransformerDecoder::create(TransformerDecoderLayer::create(6, 2, "
     "TransformerOptions{.dim_feedforward = 4}), 2)",
     nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 4), 2), [Y, X],
     {"memory_mask": BIAS[:4], "memory_key_padding_mask": PAD}, {}),
    ("DecoderNormMasks",
     "TransformerDecoder::create(TransformerDecoderLayer::create(6, 3, "
     "TransformerOptions{.dim_feedforward = 4, .batch_first = true, "
     ".norm_first = true}), 2, LayerNorm::create(6))",
     nn.TransformerDecoder(
         nn.TransformerDecoderLayer(6, 3, 4, batch_first=True,
                                    norm_first=True), 2, nn.LayerNorm(6)),
     [(2, 5, 6), (2, 4, 6)],
     {"tgt_mask": CAUSAL, "tgt_key_padding_mask": LATE},
     {"memory_is_causal": False}),
    ("MSELoss", "MSELoss::create()", nn.MSELoss(), [S, S], {}, {}),
    ("L1LossSum", "L1Loss::create(\"sum\")", nn.L1Loss(reduction="sum"),
     [S, S], {}, {}),
    ("SmoothL1Loss", "SmoothL1Loss::create(\"none\", 0.5)",
     nn.SmoothL1Loss(reduction="none", beta=0.5), [S, S], {}, {}),
    ("HuberLoss", "HuberLoss::create(\"mean\", 0.25)",
     nn.HuberLoss(delta=0.25), [S, S], {}, {}),
    ("CrossEntropyLoss", "CrossEntropyLoss::create()", nn.CrossEntropyLoss(),
     [S], {"target": CLASSES}, {}),
    ("CrossEntropyLossWeighted",
     "CrossEntropyLoss::create(Tensor::zeros({3}), 1, \"mean\", 0.25)",
     nn.CrossEntropyLoss(torch.zeros(3), ignore_index=1, label_smoothing=0.25),
     [S], {"target": CLASSES}, {}),
    ("CrossEntropyLossChances", "CrossEntropyLoss::create(Tensor(), -100, "
     "\"none\")", nn.CrossEntropyLoss(reduction="none"), [S],
     {"target": HALF}, {}),
    ("NLLLoss", "NLLLoss::create(Tensor::zeros({3}), 0, \"sum\")",
     nn.NLLLoss(torch.zeros(3), ignore_index=0, reduction="sum"), [S],
     {"target": CLASSES}, {}),
    ("NLLLossPlain", "NLLLoss::create()", nn.NLLLoss(), [(2, 3)],
     {"target": LEFT}, {}),
    ("BCELoss", "BCELoss::create()", nn.BCELoss(), [],
     {"input": HALF, "target": HALF.flip(0)}, {}),
    ("BCELossWeighted", "BCELoss::create(Tensor::zeros({3}), \"none\")",
     nn.BCELoss(torch.zeros(3), reduction="none"), [],
     {"input": HALF, "target": HALF.flip(0)}, {}),
    ("BCEWithLogitsLoss", "BCEWithLogitsLoss::create(Tensor(), \"mean\", "
     "Tensor::zeros({3}))", nn.BCEWithLogitsLoss(pos_weight=torch.zeros(3)),
     [S], {"target": HALF}, {}),
    ("BCEWithLogitsLossWeighted",
     "BCEWithLogitsLoss::create(Tensor::zeros({4, 1}), \"sum\")",
     nn.BCEWithLogitsLoss(torch.zeros(4, 1), reduction="sum"), [S],
     {"target": HALF}, {}),
    ("KLDivLoss", "KLDivLoss::create(\"batchmean\")",
     nn.KLDivLoss(reduction="batchmean"), [S], {"target": HALF}, {}),
    ("KLDivLossLog", "KLDivLoss::create(\"none\", true)",
     nn.KLDivLoss(reduction="none", log_target=True), [S, S], {}, {}),
    ("CosineEmbeddingLoss", "CosineEmbeddingLoss::create(0.25)",
     nn.CosineEmbeddingLoss(0.25), [S, S], {"target": SIGNS}, {}),
    ("TripletMarginLoss", "TripletMarginLoss::create()",
     nn.TripletMarginLoss(), [S, S, S], {}, {}),
    ("TripletMarginLossSwap",
     "TripletMarginLoss::create(2.0, 1.0, 1e-5, true, \"none\")",
     nn.TripletMarginLoss(2.0, 1.0, 1e-5, True, reduction="none"), [S, S, S],
     {}, {}),
    ("AttentionHiddenRow",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.batch_first = true})",
     mha(6, 2, batch_first=True), [(2, 5, 6)] * 3,
     {"attn_mask": FIRST}, {"need_weights": False}),
    ("AttentionHiddenRowWeights", "MultiheadAttention::create(6, 2)",
     mha(6, 2), [X] * 3, {"attn_mask": FIRST}, {}),
    ("AttentionEachHead",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.batch_first = true})",
     mha(6, 2, batch_first=True), [(2, 5, 6)] * 3,
     {"attn_mask": EACH > 0.5, "key_padding_mask": PAD},
     {"average_attn_weights": False}),
    ("AttentionPaddedOnly", "MultiheadAttention::create(6, 3)", mha(6, 3),
     [Y, X, X], {"key_padding_mask": BIAS[:2]}, {"need_weights": False}),
    ("AttentionUnbatchedMasks", "MultiheadAttention::create(6, 2)", mha(6, 2),
     [(4, 6), (5, 6), (5, 6)],
     {"attn_mask": EACH[:2, :4], "key_padding_mask": PAD[0]},
     {"average_attn_weights": False}),
    ("AttentionUnbatchedPadded",
     "MultiheadAttention::create(6, 2, MultiheadOptions{.batch_first = true})",
     mha(6, 2, batch_first=True), [(5, 6)] * 3,
     {"key_padding_mask": PAD[1], "attn_mask": CAUSAL},
     {"need_weights": False, "is_causal": True}),
    ("GRUUnbatched", "GRU::create(3, 4)", nn.GRU(3, 4), [(5, 3), (1, 4)], {},
     {}),
]


def flat(value):
    if value is None:
        return []
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for item in value for t in flat(item)]


def entry(t):
    if t.dtype == torch.bool:
        return ("Tensor::from(std::vector<float>" + floats(t.double()) + ", " +
                dims(t) + ").to(DType::boolean)")
    if t.dtype == torch.long:
        return ("Tensor::from(std::vector<int64_t>" + floats(t.double()) +
                ", " + dims(t) + ")")
    return "Tensor::from(std::vector<float>" + floats(t) + ", " + dims(t) + ")"


def argument(value):
    if isinstance(value, (list, tuple)):
        return "Value::tuple({" + ", ".join(argument(v) for v in value) + "})"
    return "Value(" + entry(value) + ")"


def made(shape, shift):
    if isinstance(shape, list):
        return tuple(made(s, shift + i + 1) for i, s in enumerate(shape))
    count = 1
    for n in shape:
        count *= n
    return (grid(count, shift) * 2).reshape(shape)


write = writer("sequences.inc")
write("// Made by make_sequences.py with torch " + torch.__version__ + ".")
for name, code, module, shapes, tensors, plain in CASES:
    module.eval().double()
    for i, (key, value) in enumerate(module.state_dict().items()):
        value.copy_(grid(value.numel(), i + 1).reshape(value.shape) / 2)
    inputs = [made(s, 5 * i) for i, s in enumerate(shapes)]
    with torch.no_grad():
        outputs = flat(module(*inputs, **tensors, **plain))
    printed = repr(module).replace("\n", "\\n")
    words = {True: "true", False: "false"}
    kwargs = [f'{{"{k}", {argument(v)}}}' for k, v in tensors.items()]
    kwargs += [f'{{"{k}", {words[v]}}}' for k, v in plain.items()]
    write(f'{{"{name}", [] {{ return ModuleRef({code}); }},')
    write(f' R"({printed})",')
    write(" {" + ", ".join(f'{{"{k}", {entry(v)}}}'
                           for k, v in module.state_dict().items()) + "},")
    write(" {" + ", ".join(argument(v) for v in inputs) + "},")
    write(" {" + ", ".join(kwargs) + "},")
    write(" {" + ", ".join(entry(t) for t in outputs) + "}},")
