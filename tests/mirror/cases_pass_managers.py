"""Both managers of passes: order, rounds, checks, loops, failures."""

import torch
from torch.fx import symbolic_trace
from torch.fx.passes import pass_manager as old
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import (
    PassManager,
    pass_result_wrapper,
    this_before_that_pass_constraint,
)

from mirror import case, fill


def traced():
    return symbolic_trace(lambda x: torch.relu(x) + torch.relu(-x))


def replace(gm, old_target, new_target):
    changed = False
    for node in gm.graph.nodes:
        if node.target is old_target:
            node.target = new_target
            changed = True
            break
    return changed


def relu_to_neg(gm):
    changed = replace(gm, torch.relu, torch.neg)
    return PassResult(gm, changed)


def neg_to_tanh(gm):
    replace(gm, torch.neg, torch.tanh)


def add_to_sub(gm):
    for node in gm.graph.nodes:
        if node.name == "add":
            node.target = torch.sub
    return gm


class Cosine(PassBase):
    def __init__(self):
        self.log = []

    def requires(self, graph_module):
        self.log.append(f"before {len(graph_module.graph.nodes)}")

    def call(self, graph_module):
        changed = replace(graph_module, torch.relu, torch.cos)
        return PassResult(graph_module, changed)

    def ensures(self, graph_module):
        self.log.append(f"after {len(graph_module.graph.nodes)}")


def names(manager):
    return [getattr(p, "__name__", type(p).__name__) for p in manager.passes]


@case
def rounds_until_nothing_changes(m):
    for steps in (1, 2, 5):
        gm = traced()
        result = PassManager([relu_to_neg], steps=steps)(gm)
        m.value("modified", result.modified)
        m.graph(result.graph_module)
    m.value("again", PassManager([relu_to_neg])(result.graph_module).modified)
    m.outputs(result.graph_module, fill([4]))


@case
def wrapped_results(m):
    gm = traced()
    manager = PassManager()
    manager.add_pass(pass_result_wrapper(relu_to_neg))
    manager.add_pass(pass_result_wrapper(neg_to_tanh))
    manager.add_pass(pass_result_wrapper(add_to_sub))
    result = manager(gm)
    m.value("names", names(manager))
    m.value("modified", result.modified)
    m.graph(result.graph_module)
    m.outputs(result.graph_module, fill([4]))


@case
def passes_with_conditions(m):
    cosine = Cosine()
    result = PassManager([cosine, cosine], steps=2)(traced())
    m.value("log", cosine.log)
    m.value("modified", result.modified)
    m.graph(result.graph_module)
    alone = cosine(traced())
    m.value("alone", alone.modified)
    m.outputs(result.graph_module, fill([4]))


@case
def passes_in_an_allowed_order(m):
    first = pass_result_wrapper(relu_to_neg)
    second = pass_result_wrapper(neg_to_tanh)
    third = pass_result_wrapper(add_to_sub)
    manager = PassManager(
        [third, second, first],
        [this_before_that_pass_constraint(first, second),
         this_before_that_pass_constraint(second, third)],
    )
    m.value("given", names(manager))
    manager.solve_constraints()
    m.value("solved", names(manager))
    manager.validate_constraints()
    m.graph(manager(traced()).graph_module)


@case
def constraints_added_later(m):
    first = pass_result_wrapper(relu_to_neg)
    second = pass_result_wrapper(neg_to_tanh)
    manager = PassManager([second])
    manager.validate_constraints()
    manager.add_pass(first)
    manager.add_constraint(this_before_that_pass_constraint(first, second))
    result = manager(traced())
    m.value("order", names(manager))
    m.graph(result.graph_module)


def text_of(call):
    try:
        call()
    except Exception as error:
        return str(error).split(" [")[0]
    return "no error"


@case
def orders_refused(m):
    first = pass_result_wrapper(relu_to_neg)
    second = pass_result_wrapper(neg_to_tanh)
    before = this_before_that_pass_constraint
    circle = PassManager([first, second], [before(first, second), before(second, first)])
    m.text("circle", text_of(circle.solve_constraints))
    m.text("called", text_of(lambda: circle(traced())))
    wrong = PassManager([second, first], [before(first, second)])
    m.text("wrong", text_of(wrong.validate_constraints).split(". Expected")[0])


@case
def checks_around_passes(m):
    for after_each in (False, True):
        seen = []

        def check(module):
            targets = [n.target for n in module.graph.nodes if n.op == "call_function"]
            seen.append(targets.count(torch.relu))

        manager = PassManager([relu_to_neg, pass_result_wrapper(neg_to_tanh)], steps=3,
                              run_checks_after_each_pass=after_each)
        manager.add_checks(check)
        manager(traced())
        m.value("seen", seen)


@case
def failing_passes(m):
    def fails(gm):
        raise ValueError("too much")

    manager = PassManager([relu_to_neg, pass_result_wrapper(neg_to_tanh), fails])
    gm = traced()
    try:
        manager(gm)
    except Exception as error:
        m.text("error", str(error))
    m.graph(gm)


@case
def failing_checks(m):
    def refuse(module):
        raise AssertionError("not like this")

    manager = PassManager([relu_to_neg])
    manager.add_checks(refuse)
    gm = traced()
    m.error(lambda: manager(gm))
    m.graph(gm)


@case
def loops_by_number(m):
    pass_ = old.inplace_wrapper(neg_to_tanh)
    gm = symbolic_trace(lambda x: torch.neg(x) + torch.neg(torch.neg(x)))
    result = old.PassManager([old.loop_pass(pass_, n_iter=2)])(gm)
    m.graph(result)
    m.error(lambda: old.loop_pass(pass_))
    m.error(lambda: old.loop_pass(pass_, n_iter=1, predicate=lambda gm: True))


@case
def loops_by_condition(m):
    gm = symbolic_trace(lambda x: torch.neg(x) + torch.neg(torch.neg(x)))
    asked = []

    def more(module):
        left = sum(n.target is torch.neg for n in module.graph.nodes)
        asked.append(left)
        return left > 1

    pass_ = old.inplace_wrapper(old.log_hook(neg_to_tanh))
    result = old.PassManager([old.loop_pass(pass_, predicate=more)])(gm)
    m.value("asked", asked)
    result.recompile()
    m.graph(result)
    m.outputs(result, fill([4]))


@case
def passes_taken_out_and_replaced(m):
    first = old.inplace_wrapper(relu_to_neg)
    second = old.inplace_wrapper(neg_to_tanh)
    third = old.inplace_wrapper(add_to_sub)
    manager = old.PassManager.build_from_passlist([first, second])
    manager.add_pass(third)
    m.value("all", names(manager))
    manager.remove_pass(["neg_to_tanh", "unknown"])
    m.value("left", names(manager))
    manager.replace_pass(first, second)
    m.value("replaced", names(manager))
    m.graph(manager(traced()))


@case
def order_inside_of_loops(m):
    first = old.inplace_wrapper(relu_to_neg)
    second = old.inplace_wrapper(neg_to_tanh)
    loops = [old.loop_pass(second, 3), old.loop_pass(first, 5)]
    for constraint in (old.these_before_those_pass_constraint,
                       old.this_before_that_pass_constraint):
        manager = old.PassManager(loops)
        manager.add_constraint(constraint(relu_to_neg, neg_to_tanh))
        m.text("order", text_of(manager.validate).split(". Expected")[0])
    manager = old.PassManager(loops[::-1], [
        old.these_before_those_pass_constraint(relu_to_neg, neg_to_tanh)])
    manager.validate()
    m.graph(manager(traced()))
