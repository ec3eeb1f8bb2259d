// Random edits. After every one the graph is well-formed: lint passes, the use
// lists are what the arguments say, and its text reads as the same graph. A
// refused edit changes nothing.
#include <gtest/gtest.h>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/text.h"
#include "tests/fx/fuzzing.h"
#include "tests/fx/graph_oracle.h"

namespace fxjit::fx {
namespace TEST_FILE {

using fuzzing::pick;
using fuzzing::Random;

class Editor {
 public:
  explicit Editor(Random& random) : random_(random) {
    graph_->placeholder("x");
    graph_->output(graph_->nodes().front());
    stranger_ = other_.placeholder("stranger");
  }

  void edit() {
    switch (pick(random_, 14)) {
      case 0:
      case 1:
      case 2:
        return create();
      case 3:
        return erase();
      case 4:
        return move();
      case 5:
        return replace_uses();
      case 6:
        return set_argument();
      case 7:
        return insert_argument();
      case 8:
        return replace_input();
      case 9:
        return rename();
      case 10:
        return copy();
      case 11:
        return eliminate();
      case 12:
        return append_graph();
      default:
        return refused();
    }
  }

  void check() {
    expect_consistent(*graph_);
    graph_->lint();
    const std::string written = text(*graph_, {.meta = true});
    EXPECT_EQ(text(*parse_graph(written), {.meta = true}), written);
  }

 private:
  std::vector<NodePtr> nodes() const { return graph_->nodes().list(); }
  NodePtr any() { return nodes()[pick(random_, graph_->size())]; }
  NodePtr output() { return graph_->output_node(); }
  // A node before `node`, or null when there is none.
  NodePtr before(const Node* node) {
    std::vector<NodePtr> earlier;
    for (NodePtr other : graph_->nodes()) {
      if (other == node) break;
      earlier.push_back(other);
    }
    return earlier.empty() ? nullptr : earlier[pick(random_, earlier.size())];
  }

  // A value over nodes before `at`.
  Value value(const Node* at, int depth = 0) {
    const NodePtr node = before(at);
    switch (pick(random_, depth < 3 ? 8 : 3)) {
      case 0:
        return static_cast<int64_t>(pick(random_, 100));
      case 1:
      case 2:
        return node ? Value(node) : Value(None);
      case 3:
        return Value::list({value(at, depth + 1), value(at, depth + 1)});
      case 4:
        return Value::tuple({value(at, depth + 1)});
      case 5:
        return Value::dict({{"k", value(at, depth + 1)}});
      case 6:
        return Value::slice(value(at, depth + 1), None, value(at, depth + 1));
      default:
        return node ? Value(node) : Value("text");
    }
  }

  void create() {
    const NodePtr place = any();
    const bool after = !place->is(Opcode::output) && pick(random_, 2);
    const InsertScope scope =
        after ? graph_->inserting_after(place) : graph_->inserting_before(place);
    const Node* const at = after ? place->next() : place;
    switch (pick(random_, 4)) {
      case 0:
        graph_->call_function("torch.add", {value(at), value(at)},
                              {{"alpha", value(at)}});
        break;
      case 1:
        graph_->call_method(pick(random_, 4) ? "neg" : "add_", {value(at)});
        break;
      case 2:
        graph_->get_attr("layer.weight");
        break;
      default:
        graph_->placeholder("x");
        break;
    }
  }

  void erase() {
    const NodePtr node = any();
    if (node->is(Opcode::output)) return;
    if (node->num_users() > 0)
      return expect_refused([&] { graph_->erase_node(node); });
    graph_->erase_node(node);
    EXPECT_TRUE(node->erased());
  }

  // To a place behind its inputs and before its users.
  void move() {
    const NodePtr node = any();
    const NodePtr place = any();
    if (node->is(Opcode::output) || place->is(Opcode::output)) return;
    bool legal = true, passed = false;
    for (NodePtr other : graph_->nodes()) {
      if (other == place) passed = true;
      const bool input = other->has_user(node);
      const bool user = node->has_user(other);
      if ((input && passed && other != place) || (user && !passed) ||
          (user && other == place))
        legal = false;
    }
    if (legal) place->append(node);
  }

  void replace_uses() {
    const NodePtr node = any();
    const NodePtr with = before(node);
    if (!with) return;
    const size_t users = node->num_users();
    EXPECT_EQ(node->replace_all_uses_with(with).size(), users);
    EXPECT_EQ(node->num_users(), 0u);
  }

  void set_argument() {
    const NodePtr node = any();
    if (node->is(Opcode::placeholder)) return;
    if (!node->args().empty() && pick(random_, 2)) {
      node->set_arg(pick(random_, node->args().size()), value(node));
    } else if (node->is(Opcode::call_function)) {
      node->set_kwarg("alpha", value(node));
    } else if (!node->args().empty()) {
      node->set_args({value(node)});
    }
  }

  void insert_argument() {
    const NodePtr node = any();
    if (node->is(Opcode::call_method))
      node->insert_arg(pick(random_, node->args().size() + 1), value(node));
  }

  void replace_input() {
    const NodePtr node = any();
    const NodePtr with = before(node);
    if (!with || node->all_input_nodes().empty()) return;
    const auto inputs = node->all_input_nodes().list();
    node->replace_input_with(inputs[pick(random_, inputs.size())], with);
  }

  void rename() { any()->rename(pick(random_, 2) ? "add" : "x_1"); }

  void copy() {
    auto copied = graph_->copy();
    EXPECT_EQ(copied->str(), graph_->str());
    expect_consistent(*copied);
    if (pick(random_, 2)) graph_ = std::move(copied);
  }

  // Leaves no pure node unused, and what the output uses as it was.
  void eliminate() {
    graph_->eliminate_dead_code();
    for (const Node* node : graph_->nodes())
      EXPECT_TRUE(node->num_users() > 0 || node->is_impure());
    EXPECT_FALSE(graph_->eliminate_dead_code());
  }

  void append_graph() {
    Graph source;
    const NodePtr a = source.placeholder("a");
    const NodePtr sum = source.call_function("torch.add", {a, a});
    source.output(Value::list({sum}));
    const NodePtr end = output();
    if (!before(end)) return;
    ValueMap map{{a, before(end)}};
    const InsertScope scope = graph_->inserting_before(end);
    const Value result = graph_->graph_copy(source, map);
    if (pick(random_, 2)) end->set_args({result});
  }

  void refused() {
    const NodePtr node = any();
    switch (pick(random_, 5)) {
      case 0:
        return expect_refused([&] { node->append(stranger_); });
      case 1:
        return expect_refused(
            [&] { graph_->create_node(Opcode::call_function, "text"); });
      case 2:
        return expect_refused(
            [&] { graph_->call_function("no.such.function", {node}); });
      case 3: {
        ValueMap empty;
        Graph source;
        source.placeholder("first");
        const NodePtr a = source.placeholder("a");
        const NodePtr neg = source.call_method("neg", {a});
        source.output(source.call_method("neg", {neg}));
        a->prepend(neg->next());  // Its input comes behind it.
        return expect_refused([&] { graph_->graph_copy(source, empty); });
      }
      default:
        return expect_refused(
            [&] { node->set_arg(node->args().size() + 1, 1); });
    }
  }

  template <typename Edit>
  void expect_refused(const Edit& edit) {
    const std::string before = text(*graph_);
    bool refused = false;
    try {
      edit();
    } catch (const Error&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
    EXPECT_EQ(text(*graph_), before);
    expect_consistent(other_);
  }

  Random& random_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  Graph other_;
  NodePtr stranger_;
};

TEST(Fuzz, Edits) {
  fuzzing::run(150, [](Random& random) {
    Editor editor(random);
    for (int step = 0; step < 60; ++step) {
      editor.edit();
      editor.check();
      if (::testing::Test::HasFailure()) return;
    }
  });
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
