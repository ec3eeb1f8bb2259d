// How nodes are named: words that may not be names, numbers, what code renames.
#include <sstream>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Naming)

namespace TEST_FILE {

using fx::Graph;
using fx::Node;
using fx::NodePtr;
using fx::Opcode;

// Python's keywords and builtins, what generated code defines, and others.
constexpr const char* kWords =
    "ArithmeticError AssertionError AttributeError BaseException "
    "BaseExceptionGroup BlockingIOError BrokenPipeError BufferError "
    "BytesWarning "
    "ChildProcessError ConnectionAbortedError ConnectionError "
    "ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError "
    "Ellipsis EncodingWarning EnvironmentError Exception ExceptionGroup F "
    "False "
    "FileExistsError FileNotFoundError FloatingPointError FutureWarning "
    "GeneratorExit IOError ImportError ImportWarning IndentationError "
    "IndexError "
    "InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError "
    "MemoryError ModuleNotFoundError NameError None NoneType "
    "NotADirectoryError "
    "NotImplemented NotImplementedError OSError OverflowError "
    "PendingDeprecationWarning PermissionError ProcessLookupError "
    "RecursionError "
    "ReferenceError ResourceWarning RuntimeError RuntimeWarning "
    "StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError "
    "SystemExit TabError TimeoutError TrUe True TypeError UnboundLocalError "
    "UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError "
    "UnicodeWarning UserWarning ValueError Warning ZeroDivisionError _ "
    "__build_class__ __debug__ __doc__ __import__ __loader__ __name__ "
    "__package__ "
    "__spec__ abs add aiter all and anext annotations any args as ascii assert "
    "async await bin bool break breakpoint bytearray bytes callable case chr "
    "class classmethod compile complex continue copyright credits cuda def del "
    "delattr device dict dir divmod elif else enumerate eval except exec exit "
    "filter finally float for format from frozenset fx_pytree getattr global "
    "globals hasattr hash help hex id if import in inf input int is isinstance "
    "issubclass iter kwargs lambda len license list locals map match math max "
    "memoryview min nan next nn none nonlocal not np numpy object oct open "
    "operator or ord output pass placeholder pow print property pytree quit "
    "raise "
    "range relu repr return reversed root round self set setattr slice sorted "
    "staticmethod str sum super torch try tuple type typing vars while with "
    "wrap "
    "yield zip ";

constexpr const char* kWishes[] = {
    "1",
    "_1",
    "__1",
    "x_1_2",
    "x__1",
    "a.b",
    "a-b.c",
    " ",
    "\u00e9",
    "\u65e5\u672cx",
    "x y",
    "0",
    "None",
    "None_1",
    "inf_3",
    "nan",
    "x_007",
    "x_7",
    "x_99999999999999999999",
    "x_18446744073709551615",
    "x_9223372036854775807",
    "add_000000000000000000000000001",
    "y_999999999999999999",
    "class",
    "__class__",
    "__init__",
    "_",
    "__",
    "___",
    "_0",
    "__0_0",
    "0_0",
    "x_",
};

constexpr const char* kMethods[] = {
    "__add__",  "__",    "___",        "____",  "PascalCase",
    "ALL_CAPS", "aBC",   "HTTPServer", "a.B.c", "__PrivateName__",
    "_x_",      "relu_", "__iadd__",   "T",     "x1Y2z",
};

NodePtr named(Graph& graph, const std::string& wish) {
  return graph.create_node(Opcode::call_function,
                           ops::get_function("torch.neg"), {}, {}, wish);
}

std::string name_of(Graph& graph, const std::string& wish) {
  return std::string(named(graph, wish)->name());
}

std::string names_of(const Graph& graph) {
  std::string names;
  for (const Node* node : graph.nodes())
    names += (names.empty() ? "" : " ") + std::string(node->name());
  return names;
}

MIRROR_CASE(Naming, every_word) {
  Graph graph;
  std::string lines;
  std::istringstream words(kWords);
  for (std::string word; words >> word;) {
    const std::string first = name_of(graph, word);
    lines += (lines.empty() ? "" : "\n") + word + ": " + first + " " +
             name_of(graph, word);
  }
  expect_text("names", lines);
  graph.output(None);
  expect_code(graph);
}

MIRROR_CASE(Naming, wishes_of_all_kinds) {
  Graph graph;
  std::string lines;
  for (const std::string wish : kWishes) {
    lines += (lines.empty() ? "" : "\n") + wish + ":";
    for (int i = 0; i < 3; ++i) lines += " " + name_of(graph, wish);
  }
  expect_text("names", lines);
}

MIRROR_CASE(Naming, methods_and_paths) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  for (const char* method : kMethods) graph.call_method(method, {x});
  for (const char* path : {"a.b", "0", "a.0.B", "None", "self", "é"}) {
    graph.get_attr(path);
    graph.call_module(path, {x});
  }
  graph.output(x);
  expect_graph(graph);
  expect_code(graph);
}

MIRROR_CASE(Naming, numbers_go_on_in_copies) {
  Graph graph;
  NodePtr last = nullptr;
  for (const char* wish : {"x", "x", "x_7", "x_3", "x"})
    last = named(graph, wish);
  graph.erase_node(last);
  expect_text("original", names_of(graph));
  const auto copy = graph.copy();
  expect_text("copy", names_of(*copy));
  const std::string next = name_of(graph, "x");
  expect_text("next", next + " " + name_of(*copy, "x"));
}

MIRROR_CASE(Naming, code_renames_what_clashes) {
  Graph graph;
  const fx::Target neg = ops::get_function("torch.neg");
  const NodePtr x = graph.placeholder("math_sqrt");
  const NodePtr sqrt = graph.call_function("math.sqrt", {x});
  const NodePtr none =
      graph.create_node(Opcode::call_function, neg, {sqrt}, {}, "None");
  const NodePtr one =
      graph.create_node(Opcode::call_function, neg, {none}, {}, "None_1");
  const NodePtr exp = graph.call_function("math.exp", {one});
  const NodePtr late = graph.create_node(Opcode::call_function, neg,
                                         {exp, none}, {}, "math_exp");
  graph.output(Value::tuple({late, Value::dict({{"a", Value::list({none})}})}));
  expect_graph(graph);
  expect_code(graph);
}

MIRROR_CASE(Naming, code_renames_forced_names) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.call_function("torch.neg", {x});
  const NodePtr z = graph.call_function("torch.add", {y, x});
  y->force_name("inf");
  z->force_name("class");
  const NodePtr w = graph.call_function("torch.neg", {z});
  w->force_name("class_1");
  graph.output(w);
  expect_graph(graph);
  expect_code(graph);
}

MIRROR_CASE(Naming, renamed_nodes) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.call_function("torch.neg", {x});
  const NodePtr z = graph.call_function("torch.neg", {y});
  std::string names;
  for (const char* wish :
       {"x", "z", "neg_1", "neg", "class", "9", "neg_5", "z"}) {
    z->rename(wish);
    names += (names.empty() ? "" : " ") + std::string(z->name());
  }
  expect_text("names", names);
  const std::string next = name_of(graph, "neg");
  expect_text("next", next + " " + name_of(graph, "z"));
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
