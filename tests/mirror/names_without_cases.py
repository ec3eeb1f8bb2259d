"""Why no case uses a name of torch.fx; make_names.py puts it on the page.

MODULES have no counterpart at all, NAMES are single names; patterns are those of
fnmatch. A pattern that stands for nothing, or for names that cases use, is an error.
"""

COMPILE = "part of torch.compile, which fxjit's `compile` takes the place of"
SYMBOLIC = "symbolic sizes: programs are made for the shapes that come"
TYPES = "gradual types of Python's annotations; shapes come from `FakeTensorProp`"
DEVICES = "places parts on several devices: there is one"

MODULES = {
    "torch.fx._compatibility": "marks torch's own code",
    "torch.fx._graph_pickler": "pickles Python objects; `fx::save` writes a checked file",
    "torch.fx._lazy_graph_module": "recompiles late; code is made when asked for anyway",
    "torch.fx._pytree": "containers of Python classes; lists, tuples and dicts are known",
    "torch.fx._utils": "texts for torch's logs",
    "torch.fx.annotate": TYPES,
    "torch.fx.tensor_type": TYPES,
    "torch.fx.experimental._*": COMPILE,
    "torch.fx.experimental.accelerator_partitioner": DEVICES,
    "torch.fx.experimental.partitioner_utils": DEVICES,
    "torch.fx.experimental.debug": "a breakpoint of Python's debugger in generated code",
    "torch.fx.experimental.dynamic_spec": SYMBOLIC,
    "torch.fx.experimental.graph_gradual_typechecker": TYPES,
    "torch.fx.experimental.meta_tracer": "values of a trace have no shapes; "
    "`FakeTensorProp` afterwards",
    "torch.fx.experimental.migrate_gradual_types.*": TYPES,
    "torch.fx.experimental.proxy_tensor": "records calls below the functions, at "
    "torch's dispatcher; traces record the functions",
    "torch.fx.experimental.recording": SYMBOLIC,
    "torch.fx.experimental.refinement_types": TYPES,
    "torch.fx.experimental.rewriter": "rewrites Python's syntax trees",
    "torch.fx.experimental.schema_type_annotation": TYPES,
    "torch.fx.experimental.sym_node": SYMBOLIC,
    "torch.fx.experimental.symbolic_shapes": SYMBOLIC,
    "torch.fx.experimental.unification.*": TYPES,
    "torch.fx.experimental.unify_refinements": TYPES,
    "torch.fx.experimental.validator": SYMBOLIC,
    "torch.fx.passes._tensorify_python_scalars": COMPILE,
    "torch.fx.passes.backends.cudagraphs": "there is no GPU",
    "torch.fx.passes.param_fetch": "reads attributes of layers by name; they are members",
    "torch.fx.passes.regional_inductor*": COMPILE,
    "torch.fx.passes.reinplace": "works on functional aten graphs; results take the "
    "place of operands when compiled",
    "torch.fx.passes.runtime_assert": SYMBOLIC,
}

INSIDE = "torch's own bookkeeping; private here"
OPTION = "an option of torch's that has no meaning here"
DRAWN = "drawing needs pydot under torch; tests/fx/passes/tools_test.cpp"
VALUES = "values are immutable by type: there is nothing to call"
AUTOGRAD = "of autograd and torch.export"
SOURCES = "here an entry is a tuple of text; the case compares name, pass and action"
WRITES = "torch asks its schemas; the op table knows what a call writes"
PREVIEW = "lowering and previews belong to a backend"

_T = "torch.fx._symbolic_trace."
_P = "torch.fx.passes."
_S = _P + "splitter_base."

NAMES = {
    _T + "ProxyableClassMeta": "a metaclass; `wrap` a function that makes the object",
    _T + "Tracer.num_calls": INSIDE,
    _T + "Tracer.root_module_name": INSIDE,
    _T + "Tracer.submodule_paths": INSIDE,
    _T + "Tracer.tensor_attrs": INSIDE,
    "torch.fx.experimental.const_fold.*.device_for_folded_attrs": "there is one device",
    "torch.fx.experimental.const_fold.*.has_folding_been_run": INSIDE,
    "torch.fx.experimental.normalize.NormalizeArgs.node_map": INSIDE,
    "torch.fx.experimental.normalize.*.binary_magic_method_remap": INSIDE,
    "torch.fx.experimental.optimization.*": "layouts are the compiler's business",
    "torch.fx.graph._PyTreeCodeGen*": "made by tracing containers; reached only",
    "torch.fx.graph.Graph._resolve_unbacked_binding": SYMBOLIC,
    "torch.fx.graph.Graph.materialize_symint*": SYMBOLIC,
    "torch.fx.graph_module.reduce_package_graph_module": "torch.package",
    "torch.fx.graph_module.GraphModule.to_folder": "run_exported.py imports and runs what "
    "it writes for every case with outputs",
    "torch.fx.graph_module.GraphModule.meta": "modules have attributes, no notes",
    "torch.fx.graph_module.GraphModule.shape_env": SYMBOLIC,
    "torch.fx.immutable_collections.*": VALUES,
    "torch.fx.interpreter.*": INSIDE,
    _P + "fake_tensor_prop.FakeTensorProp.seen_subgraphs": COMPILE,
    _P + "graph_drawer.*": DRAWN,
    _P + "graph_transform_observer.*.active": INSIDE,
    _P + "graph_transform_observer.*.copied_gms": INSIDE,
    _P + "graph_transform_observer.*.input_dot_graph": DRAWN,
    _P + "graph_transform_observer.*.log_url": DRAWN,
    _P + "graph_transform_observer.*.name_to_node": INSIDE,
    _P + "graph_transform_observer.*.subsystem": OPTION,
    _P + "infra.partitioner.Partition.add_node": INSIDE,
    _P + "infra.partitioner.*.dependency_viewer": INSIDE,
    _P + "infra.pass_manager.*.suppress_check_failures": "does nothing in torch",
    _P + "net_min_base.FxNetMinimizer*Error": "caught inside; reports have their texts",
    _P + "net_min_base._MinimizerBase.*": INSIDE,
    _P + "shape_prop.TensorMetadata.is_quantized": "no quantised tensors",
    _P + "shape_prop.TensorMetadata.qparams": "no quantised tensors",
    _P + "shape_prop.ShapeProp.*": INSIDE,
    _P + "split_module.Partition*": INSIDE,
    _P + "split_utils.Component*": INSIDE,
    _P + "split_utils.move_non_tensor_nodes_on_boundary": "`find_fusion_groups` keeps "
    "such nodes together before the cut",
    _S + "_SplitterSettingBase.move_non_tensor_nodes_on_boundary": "as above",
    _S + "NodeEvent*": "`node_submodule_map` says where each call went",
    _S + "FxNetAccNodesFinder.*": INSIDE,
    _S + "FxNetSplitterInternalError": "only for torch's own faults",
    _S + "Subgraph.device_ordinal": DEVICES,
    _S + "_SplitterBase.PCIe_BW": PREVIEW,
    _S + "_SplitterBase.*_preview": PREVIEW,
    _S + "_SplitterBase.*": INSIDE,
    _P + "tools_common.FxNetAccFusionsFinder.*": INSIDE,
    _P + "utils.matcher_utils.SubgraphMatcher.*": INSIDE,
    _P + "utils.matcher_with_name_node_map_utils.*.name_node_map": INSIDE,
    "torch.fx.proxy.TracerBase.check_mutable_operations": WRITES,
    "torch.fx.proxy.TracerBase.trace_asserts": "torch reads bytecode and does not know "
    "that of Python 3.11; tests/fx/proxy_test.cpp",
    "torch.fx.proxy.assert_fn": "the function behind `trace_asserts`",
    "torch.fx.proxy.GraphAppendingTracer.*": INSIDE,
    "torch.fx.proxy.MetaProxy*": "`ProxyBase::val`: proxies of the compiler know shapes",
    "torch.fx.proxy.Attribute.*": INSIDE,
    "torch.fx.proxy.ParameterProxy.param": INSIDE,
    "torch.fx.traceback.NodeSource*": SOURCES,
    "torch.fx.traceback.annotate_fn": "a decorator; `Annotation` inside of the function",
    "torch.fx.traceback._*": COMPILE,
    "torch.fx.traceback.format_stack": AUTOGRAD,
    "torch.fx.traceback.*grad_fn_seq_nr": AUTOGRAD,
    "torch.fx.traceback.set_current_replay_node": AUTOGRAD,
    "torch.fx.traceback.get_graph_provenance_json": AUTOGRAD,
}
