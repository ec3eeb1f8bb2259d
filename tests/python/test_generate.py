"""transformers' generate with a compiled forward: tokens and logits as without."""

import pathlib
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
sys.path.append(str(pathlib.Path(__file__).parent.parent / "import"))
import importlib.util  # noqa: E402

if not importlib.util.find_spec("transformers"):
    pytest.skip("transformers is not installed here", allow_module_level=True)
from make_models import define_torchvision  # noqa: E402

define_torchvision()
import transformers  # noqa: E402
from fxjit import torch_backend  # noqa: E402

GPT2 = {"vocab_size": 96, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4,
        "eos_token_id": None}
LLAMA = {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 64, "num_key_value_heads": 2, "eos_token_id": None}
T5 = {"vocab_size": 96, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4,
      "decoder_start_token_id": 1, "eos_token_id": None}


@pytest.mark.parametrize("kind, config, cache", [
    ("GPT2LMHeadModel", transformers.GPT2Config(**GPT2), None),
    ("LlamaForCausalLM", transformers.LlamaConfig(**LLAMA), None),
    ("LlamaForCausalLM", transformers.LlamaConfig(**LLAMA), "static"),
    ("T5ForConditionalGeneration", transformers.T5Config(**T5), None),
], ids=["gpt2", "llama", "llama with a static cache", "t5"])
@torch.no_grad()
def test_ten_tokens(kind, config, cache):
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = getattr(transformers, kind)(config).eval()
    model.generation_config.pad_token_id = 0
    prompt = torch.randint(3, 90, (1, 6))
    options = {"max_new_tokens": 10, "do_sample": False, "output_logits": True,
               "return_dict_in_generate": True}
    if cache:
        options["cache_implementation"] = cache
    expected = model.generate(prompt, **options)
    before = set(torch_backend.compiled_graphs())
    model.forward = torch.compile(model.forward, backend="fxjit")
    got = model.generate(prompt, **options)
    assert torch.equal(got.sequences, expected.sequences)
    for ours, theirs in zip(got.logits, expected.logits, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
    graphs = [g for g in torch_backend.compiled_graphs() if g not in before and g.model]
    assert graphs
    assert all(graph.model.report().native and not graph.in_python for graph in graphs)
