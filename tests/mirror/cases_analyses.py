"""What passes find out: shapes, types, equal calls, constants, normal forms, history."""

import torch
import torch.nn.functional as F
from torch._inductor import config as inductor_config
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import symbolic_trace
from torch.fx.experimental.const_fold import (
    get_unique_attr_name_in_module,
    split_const_subgraphs,
)
from torch.fx.experimental.normalize import NormalizeArgs, NormalizeOperators
from torch.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.graph_manipulation import get_tensor_meta
from torch.fx.passes.graph_transform_observer import GraphTransformObserver
from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata
from torch.fx.passes.tools_common import get_node_target, is_node_output_tensor

from mirror import case, fill, filled


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 4, 3, padding=1)
        self.lin = torch.nn.Linear(4, 3)
        self.scale = torch.nn.Parameter(torch.rand(3))

    def forward(self, x):
        y = F.relu(self.conv(x))
        z = y.mean(dim=(2, 3))
        w = self.lin(z) * self.scale
        return w, w.argmax(dim=1), x.size(0)


def shape_text(value):
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(shape_text(v) for v in value) + ")"
    return str(value)


def fake_lines(gm):
    return "\n".join(
        f"{n.name} {shape_text(n.meta['val'])}" for n in gm.graph.nodes
        if "val" in n.meta)


@case
def shapes_without_numbers(m):
    gm = symbolic_trace(filled(Net()))
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    result = FakeTensorProp(gm, mode).propagate(fill([2, 2, 5, 5]))
    m.text("result", shape_text(result))
    m.text("vals", fake_lines(gm))


@case
def shapes_of_given_shapes(m):
    gm = symbolic_trace(lambda x, y: (torch.cat([x, y], 0), x.t(), x @ y.t()))
    mode = FakeTensorMode()
    with mode:
        x, y = torch.empty(2, 3), torch.empty(4, 3)
    result = FakeTensorProp(gm, mode).propagate_dont_convert_inputs(x, y)
    m.text("result", shape_text(result))
    m.text("vals", fake_lines(gm))


@case
def types_without_numbers(m):
    def f(x, n):
        half = x.half()
        mask = x > 0
        picked = torch.where(mask, x, 0.0)
        return half, mask, picked.sum(dtype=torch.float64), x.long() + n

    gm = symbolic_trace(f)
    FakeTensorProp(gm).propagate(fill([3, 2]), 2)
    m.text("vals", fake_lines(gm))


@case
def facts_of_tensors(m):
    gm = symbolic_trace(filled(Net()))
    ShapeProp(gm).propagate(fill([2, 2, 5, 5]))
    conv = next(n for n in gm.graph.nodes if n.name == "conv")
    meta = get_tensor_meta(conv)
    m.text("class", type(meta).__name__ if isinstance(meta, TensorMetadata) else "")
    m.value("shape", list(meta.shape))
    m.value("stride", list(meta.stride))
    m.text("type", str(meta.dtype))
    m.text("format", str(meta.memory_format))
    m.value("tensors", [n.name for n in gm.graph.nodes
                        if n.op != "output" and is_node_output_tensor(n)])
    m.value("targets", [get_node_target(dict(gm.named_modules()), n).split(".")[-1]
                        for n in gm.graph.nodes if n.op.startswith("call")])
    m.error(lambda: get_tensor_meta(next(n for n in gm.graph.nodes if n.name == "size")))


@case
def formats_of_images(m):
    def f(x):
        y = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
        return y[:, :1], x.flatten(1)

    gm = symbolic_trace(f)
    ShapeProp(gm).propagate(fill([2, 3, 4, 5]))
    m.text("meta", "\n".join(
        f"{n.name}: {n.meta['tensor_meta'].memory_format} "
        f"{n.meta['tensor_meta'].stride}"
        for n in gm.graph.nodes if n.op != "output"))


@case
def equal_calls_by_default(m):
    def f(x):
        a = torch.relu(x)
        b = torch.relu(x)
        c = x.neg()
        d = x.neg()
        e = torch.add(a, b, alpha=2)
        g = torch.add(b, a, alpha=2)
        return a + c, b + d, e, g

    gm = symbolic_trace(f)
    result = CSEPass()(gm)
    m.value("modified", result.modified)
    m.graph(result.graph_module)
    m.value("again", CSEPass()(result.graph_module).modified)
    m.outputs(result.graph_module, fill([3]))


@case
def equal_calls_that_are_kept(m):
    def f(x):
        return torch.sin(x) + torch.sin(x), torch.cos(x), torch.cos(x)

    gm = symbolic_trace(f)
    result = CSEPass(banned_ops=[torch.sin])(gm)
    m.value("modified", result.modified)
    m.graph(result.graph_module)
    m.value("banned", torch.ops.aten.sin in get_CSE_banned_ops())
    m.outputs(result.graph_module, fill([3]))


@case
def equal_numbers_of_several_types(m):
    def f(x):
        return x * 2, x * 2.0, x * 2, x[0], x[1], x[0]

    result = CSEPass()(symbolic_trace(f))
    m.value("modified", result.modified)
    m.outputs(result.graph_module, fill([3, 2]))


class Foldable(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.rand(3, 3))
        self.b = torch.nn.Parameter(torch.rand(3))

    def forward(self, x):
        w = torch.relu(self.a).t()
        return x @ w + (self.b * 2).sum()


@case
def folding_before_and_after(m):
    gm = split_const_subgraphs(filled(Foldable()))
    m.text("name", gm.fx_const_folded_attrs_name)
    m.graph(gm)
    m.graph(gm.const_subgraph_module)
    gm.run_folding()
    m.error(gm.run_folding)
    m.value("result", gm(fill([2, 3])))
    m.value("name again", get_unique_attr_name_in_module(gm, "a"))
    m.value("free name", get_unique_attr_name_in_module(gm, "9 lives!"))


@case
def operators_for_functions(m):
    def f(x, y):
        a = torch.add(x, y)
        b = torch.sub(a, 1)
        c = torch.mul(b, y)
        d = torch.div(c, 2.0)
        e = torch.lt(d, x)
        g = torch.eq(d, y)
        h = torch.add(x, y, alpha=1)
        return d, e, torch.ge(x, g), h

    gm = NormalizeOperators(symbolic_trace(f)).transform()
    m.text("nodes", "\n".join(
        str(n.format_node()) for n in gm.graph.nodes if n.name != "add_1"))


@case
def arguments_by_position(m):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 2)

        def forward(self, x):
            y = F.softmax(self.lin(x), dim=1)
            return F.leaky_relu(y, 0.2), torch.flatten(x, end_dim=1)

    gm = symbolic_trace(filled(M()))
    for only_kwargs in (True, False):
        made = NormalizeArgs(gm, normalize_to_only_use_kwargs=only_kwargs).transform()
        m.graph(made)
        m.outputs(made, fill([3, 2]))


@case
def observed_passes(m):
    with inductor_config.patch({"trace.provenance_tracking_level": 1}):
        gm = symbolic_trace(lambda x: torch.relu(torch.neg(x)) + 1)
        observer = GraphTransformObserver(gm, "swap")

        def swap(module):
            for n in module.graph.nodes:
                if n.target is torch.neg:
                    with module.graph.inserting_after(n):
                        new = module.graph.call_function(torch.abs, n.args)
                    n.replace_all_uses_with(new)
                    module.graph.erase_node(n)

        observer.apply_gm_pass(swap)
        m.value("created", sorted(observer.created_nodes))
        m.value("erased", sorted(observer.erased_nodes))
        gm.recompile()
        m.graph(gm)
        m.value("from", [
            [n.name] + [f"{s.name} {s.pass_name} "
                        f"{'+'.join(a.name.lower() for a in s.action)}"
                        for s in n.meta.get("from_node", [])]
            for n in gm.graph.nodes])


@case
def observed_graphs(m):
    with inductor_config.patch({"trace.provenance_tracking_level": 1}):
        gm = symbolic_trace(lambda x: torch.sin(x) + torch.cos(x))
        count = GraphTransformObserver.get_current_pass_count()
        observer = GraphTransformObserver(gm, "drop")

        def drop(graph):
            out = graph.output_node()
            sin = next(n for n in graph.nodes if n.target is torch.sin)
            with graph.inserting_before(out):
                new = graph.call_function(torch.tanh, (sin,))
            out.args = (new,)
            graph.eliminate_dead_code()

        observer.apply_graph_pass(drop)
        m.value("created", sorted(observer.created_nodes))
        m.value("erased", sorted(observer.erased_nodes))
        m.value("passes", GraphTransformObserver.get_current_pass_count() - count)
        gm.recompile()
        m.outputs(gm, fill([3]))
