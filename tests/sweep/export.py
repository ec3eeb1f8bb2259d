"""Exports one model of the sweep: python tests/sweep/export.py timm.vgg FOLDER

writes model.pt2, each input as NAME.npy, torch's answers in double precision as answers.npz
(leaf numbers are the names), and facts.json, into FOLDER. A process of its own: torch.export of
some models takes gigabytes, or does not end.
"""

import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'import'))

import make_models  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402
from make_models import answers, clones, settle  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402


def maker(name):
    library, model = name.split('.', 1)
    if library == 'timm':
        import timm_models
        return lambda: timm_models.make(model)
    import transformers_models
    return transformers_models.MODELS[model]


def vary(model):
    """Parameters that begin as one number (scales, zeros in front of a sum) would hide what is
    done with them."""
    for parameter in model.parameters():
        if parameter.is_floating_point() and parameter.numel() > 0:
            if (parameter == parameter.flatten()[0]).all():
                parameter.add_(torch.randn_like(parameter) * 0.1)


# They make tensors of numbers that only double precision holds, when they compute in it.
OWN_CONSTANTS = ('transformers.xglm',)


def widen(model):
    """What modules keep beside parameters and buffers, such as tables of an earlier call, which
    `double` leaves alone."""
    for module in model.modules():
        for key, value in vars(module).items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                setattr(module, key, value.double())


def compared(exact, rough):
    """The largest number of a result, and the error of single precision, NaN aside."""
    exact, rough = exact.double(), rough.double()
    return {'largest': exact.abs().nan_to_num().max().item() if exact.numel() else 0,
            'error': (exact - rough).abs().nan_to_num().max().item() if exact.numel() else 0}


def prepared(name):
    """The model in eval mode, what it is called with, and its state at the beginning."""
    torch.manual_seed(1)
    model, args, kwargs, shapes = maker(name)()
    model.eval()
    with torch.no_grad():
        vary(model)
        settle(model, clones(args), clones(kwargs))
    return model, args, kwargs, shapes, clones(dict(model.state_dict()))


def exact_answers(name, model, args, kwargs, state):
    """torch's results in double precision, by their numbers, and facts about them."""
    with torch.no_grad():
        rough = pytree.tree_leaves(model(*clones(args), **clones(kwargs)))
    model.load_state_dict(state)
    widen(model)
    if name in OWN_CONSTANTS:
        torch.set_default_dtype(torch.float64)
    exact, facts = {}, {}
    for i, leaf in enumerate(answers(model, clones(args), clones(kwargs))):
        if isinstance(leaf, torch.Tensor):
            exact[str(i)] = leaf.detach().numpy()
            facts[str(i)] = compared(leaf.detach(), rough[i])
    return exact, facts


def export(name, folder):
    model, args, kwargs, shapes, state = prepared(name)
    begin = time.time()
    with torch.no_grad():
        program = torch.export.export(model, clones(args), clones(kwargs), dynamic_shapes=shapes)
    torch.export.save(program, folder / 'model.pt2')
    facts = {'parameters': sum(p.numel() for p in model.parameters()), 'inputs': {},
             'export_seconds': time.time() - begin}
    leaves = pytree.tree_leaves((args, kwargs))
    for spec, leaf in zip(program.graph_signature.user_inputs, leaves):
        if isinstance(leaf, torch.Tensor):
            numpy.save(folder / f'{spec}.npy', leaf.contiguous().numpy())
            facts['inputs'][spec] = list(leaf.shape)
    exact, facts['results'] = exact_answers(name, model, args, kwargs, state)
    numpy.savez(folder / 'answers.npz', **exact)
    (folder / 'facts.json').write_text(json.dumps(facts))


if __name__ == '__main__':
    torch.set_num_threads(1)
    make_models.define_torchvision()
    export(sys.argv[1], pathlib.Path(sys.argv[2]))
