"""Runs one model of the sweep by torch.compile: python tests/sweep/torch_compile.py timm.vgg FOLDER

writes results/N.npy for each result, torch's answers in double precision as answers.npz, and
facts.json, into FOLDER.
"""

import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True

import export  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402
from make_models import clones, define_torchvision  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402


def living():
    from fxjit import torch_backend
    return set(torch_backend.compiled_graphs())


def told(before):
    """What became of the graphs that torch.compile made since there were those."""
    ran = [graph for graph in living() - before if graph.model]
    reports = [graph.model.report() for graph in ran]
    reasons = [f'{row["label"]}: {row["reason"]}'
               for report in reports for row in report.rows if row['reason']]
    breaks = torch._dynamo.utils.counters['graph_break']
    return {'graphs': len(ran), 'breaks': sorted(breaks),
            'steps': sum(len(report.rows) for report in reports),
            'in_python': sorted({name for graph in ran for name in graph.in_python}),
            'not_native': reasons}


def run(name, folder):
    model, args, kwargs, _, state = export.prepared(name)
    model.load_state_dict(state)
    begin, before = time.time(), living()
    with torch.no_grad():
        results = torch.compile(model, backend='fxjit', dynamic=False)(
            *clones(args), **clones(kwargs))
    facts = {'seconds': time.time() - begin, **told(before),
             'parameters': sum(p.numel() for p in model.parameters()),
             'inputs': {str(i): list(leaf.shape)
                        for i, leaf in enumerate(pytree.tree_leaves((args, kwargs)))
                        if isinstance(leaf, torch.Tensor)}}
    (folder / 'results').mkdir(exist_ok=True)
    for i, leaf in enumerate(pytree.tree_leaves(results)):
        if isinstance(leaf, torch.Tensor):
            numpy.save(folder / 'results' / f'{i}.npy', leaf.contiguous().numpy())
    model.load_state_dict(state)
    exact, facts['results'] = export.exact_answers(name, model, args, kwargs, state)
    numpy.savez(folder / 'answers.npz', **exact)
    (folder / 'facts.json').write_text(json.dumps(facts))


if __name__ == '__main__':
    torch.set_num_threads(1)
    torch._dynamo.config.cache_size_limit = 64
    define_torchvision()
    run(sys.argv[1], pathlib.Path(sys.argv[2]))
