"""Ten tokens by transformers' generate with a forward compiled by torch.compile:
python tests/sweep/generate.py NAME FOLDER

writes the logits of each step as results/N.npy, those of double precision as answers.npz, and
facts.json, as torch_compile.py does. Steps are compared up to the first where the tokens differ,
which they may only do where rounding decides.
"""

import copy
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True

import export  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402
import transformers_models  # noqa: E402
from make_models import define_torchvision  # noqa: E402
from sweep import OF_LARGEST, TIMES_TORCH  # noqa: E402
from torch_compile import living, told  # noqa: E402

TOKENS = 10
# generate takes their sound as input, not tokens.
OF_SOUND = ('whisper', 'speech_to_text')


def names():
    """The architectures that generate: decoders, and encoders with a decoder."""
    listed = {**transformers_models.decoders(), **transformers_models.encoder_decoders()}
    return sorted([*listed, 'gpt2', 'llama', 'mixtral', 'mamba', 't5', *OF_SOUND])


def class_for(config):
    """Of the model with a head that gives tokens; None where transformers has none."""
    import transformers
    for kind in ('SpeechSeq2Seq', 'Seq2SeqLM', 'CausalLM'):
        models = getattr(transformers, f'AutoModelFor{kind}')
        if type(config) in models._model_mapping:
            return models
    return None


def prepared(name):
    """The model with its head, what generate is called with."""
    torch.manual_seed(1)
    plain, _, kwargs, _ = transformers_models.MODELS[name]()
    config = plain.config
    config.use_cache = True
    models = class_for(config)
    model = plain if models is None else models.from_config(config)
    model.eval()
    with torch.no_grad():
        export.vary(model)
    settings = model.generation_config
    settings.eos_token_id = settings.forced_eos_token_id = None
    settings.pad_token_id, settings.bos_token_id = 0, 1
    if model.config.is_encoder_decoder:
        settings.decoder_start_token_id = 1
    key = 'input_features' if name in OF_SOUND else 'input_ids'
    given = kwargs[key] if name in OF_SOUND else torch.randint(3, 90, (1, 6))
    return model, {key: given}


def generated(model, inputs):
    """Logits of each step, and the tokens."""
    with torch.no_grad():
        made = model.generate(**inputs, max_new_tokens=TOKENS, do_sample=False,
                              output_logits=True, return_dict_in_generate=True)
    return made.logits, made.sequences[0, -len(made.logits):]


def widened(name, model, inputs):
    wide = copy.deepcopy(model).double()
    export.widen(wide)
    if f'transformers.{name}' in export.OWN_CONSTANTS:
        torch.set_default_dtype(torch.float64)
    return wide, {key: value.double() if value.is_floating_point() else value
                  for key, value in inputs.items()}


def decided(exact, bound):
    """Whether rounding cannot change which logit is the largest."""
    first, second = exact.topk(2).values[0].tolist()
    return first - second > 2 * bound


def compare(ours, rough, exact):
    """Results by step, answers by step and facts about them; ValueError for a wrong token."""
    results, answers, facts = {}, {}, {}
    for step, logits in enumerate(exact[0]):
        results[step], answers[str(step)] = ours[0][step], logits.numpy()
        known = facts[str(step)] = export.compared(logits, rough[0][step])
        bound = max(TIMES_TORCH * known['error'], OF_LARGEST * known['largest'])
        if ours[1][step] == exact[1][step] == rough[1][step]:
            continue
        if ours[1][step] != exact[1][step] and decided(logits, bound):
            raise ValueError(f'token {step} is {ours[1][step]}, expected {exact[1][step]}')
        break
    return results, answers, facts


def run(name, folder):
    model, inputs = prepared(name)
    rough = generated(model, inputs)
    wide = copy.deepcopy(model)
    begin, before = time.time(), living()
    model.forward = torch.compile(model.forward, backend='fxjit')
    ours = generated(model, inputs)
    facts = {'seconds': time.time() - begin, **told(before),
             'parameters': sum(p.numel() for p in model.parameters()),
             'inputs': {key: list(value.shape) for key, value in inputs.items()}}
    exact = generated(*widened(name, wide, inputs))
    results, answers, facts['results'] = compare(ours, rough, exact)
    (folder / 'results').mkdir(exist_ok=True)
    for step, logits in results.items():
        numpy.save(folder / 'results' / f'{step}.npy', logits.numpy())
    numpy.savez(folder / 'answers.npz', **answers)
    (folder / 'facts.json').write_text(json.dumps(facts))


if __name__ == '__main__':
    torch.set_num_threads(1)
    torch._dynamo.config.cache_size_limit = 64
    define_torchvision()
    run(sys.argv[1], pathlib.Path(sys.argv[2]))
