// parse_graph: recursive descent over the text form.
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "fxjit/fx/text.h"
#include "src/fx/graph/lasting_text.h"
#include "src/fx/graph/namespace.h"
#include "src/fx/text/text_scanner.h"
#include "src/fx/text/text_values.h"

namespace fxjit::fx {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  std::unique_ptr<Graph> parse() {
    in_.expect("graph");
    in_.expect('{');
    while (true) {
      if (in_.peek() == '%') {
        parse_node();
      } else if (in_.peek() == '$') {
        parse_stack();
      } else {
        break;
      }
    }
    in_.expect('}');
    if (in_.peek() != '\0') in_.fail("nothing behind the graph");
    return std::move(graph_);
  }

  Value parse_single() {
    Value result = value();
    if (in_.peek() != '\0') in_.fail("nothing behind the value");
    return result;
  }

 private:
  // --- Nodes. ---
  std::string name() {
    return in_.at_string() ? in_.string() : std::string(in_.word());
  }
  std::string node_name() {
    in_.expect('%');
    return name();
  }

  void parse_node() {
    const std::string name = node_name();
    if (nodes_.contains(name)) in_.fail("a new name instead of %" + name);
    Value type;
    if (in_.take(':')) type = value();
    in_.expect('=');
    const Opcode op = opcode();
    in_.expect('[');
    const std::string target_text = this->name();
    const Target target = resolve(op, target_text);
    in_.expect(']');
    ValueList args;
    Kwargs kwargs;
    if (in_.take('(')) parse_arguments(&args, &kwargs);
    const NodePtr node = graph_->create_node(op, target, std::move(args),
                                             std::move(kwargs), name, type);
    if (node->name() != name) node->force_name(name);
    if (in_.take("->")) node->set_val(val());
    parse_meta(*node);
    nodes_.emplace(node->name(), node);
  }

  // --- What was noted beside a call. ---
  void parse_stack() {
    in_.expect('$');
    if (in_.integer() != static_cast<int64_t>(stacks_.size()))
      in_.fail("module stacks numbered from 0");
    in_.expect('=');
    ModuleStack stack;
    while (in_.peek() == '(') {
      const Value frame = sequence(&Parser::value);
      if (!frame.is_tuple() || frame.size() != 3 || !frame.at(0).is_string() ||
          !frame.at(1).is_string() || !frame.at(2).is_string())
        in_.fail("a key, a path and a type of a module");
      stack.push_back({std::string(frame.at(0).as_string()),
                       std::string(frame.at(1).as_string()),
                       std::string(frame.at(2).as_string())});
    }
    stacks_.push_back(std::make_shared<const ModuleStack>(std::move(stack)));
  }

  void parse_meta(Node& node) {
    if (in_.take('@')) {
      SourceLocation source;
      source.file = lasting_text(in_.string());
      const int64_t line = in_.integer();
      if (line < 1 || line > std::numeric_limits<int>::max())
        in_.fail("the number of a line");
      source.line = static_cast<int>(line);
      node.set_source(source);
    }
    if (in_.take("in")) {
      in_.expect('$');
      const int64_t stack = in_.integer();
      if (stack < 0 || stack >= static_cast<int64_t>(stacks_.size()))
        in_.fail("the number of a module stack");
      node.set_module_stack(stacks_[static_cast<size_t>(stack)]);
    }
    if (!in_.take("with")) return;
    const Value entries = dict(&Parser::val);
    for (const auto& [key, entry] : entries.as_dict()) {
      if (!key.is_string()) in_.fail("names of meta entries");
      node.meta().set(key.as_string(), entry);
    }
  }

  Opcode opcode() {
    const std::string name(in_.word());
    for (int i = 0; i < static_cast<int>(Opcode::root); ++i)
      if (opcode_name(static_cast<Opcode>(i)) == name)
        return static_cast<Opcode>(i);
    in_.fail("an opcode before '" + name + "'");
  }

  Target resolve(Opcode op, const std::string& text) {
    if (op != Opcode::call_function) return text;
    if (const auto known = find_callable(text)) return *known;
    in_.fail("a known function instead of " + text);
  }

  void parse_arguments(ValueList* args, Kwargs* kwargs) {
    while (!in_.take(')')) {
      if (std::optional<std::string> key = keyword()) {
        kwargs->emplace_back(std::move(*key), value());
      } else {
        if (!kwargs->empty()) in_.fail("a keyword argument");
        args->push_back(value());
      }
      if (in_.take(',')) continue;
      in_.expect(')');
      return;
    }
  }

  // "name=", or nothing taken.
  std::optional<std::string> keyword() {
    const char c = in_.peek();
    TextScanner ahead = in_;
    std::string name;
    if (in_.at_string()) {
      name = ahead.string();
    } else if (is_identifier(std::string_view(&c, 1))) {
      name = ahead.word();
    } else {
      return std::nullopt;
    }
    if (!ahead.take('=')) return std::nullopt;
    in_ = ahead;
    return name;
  }

  // --- Values. ---
  Value value() {
    const char c = in_.peek();
    if (c == '%') {
      const std::string name = node_name();
      const auto found = nodes_.find(name);
      if (found == nodes_.end())
        in_.fail("a node defined before, not %" + name);
      return found->second;
    }
    if (c == '(' || c == '[') return sequence(&Parser::value);
    if (c == '{') return dict(&Parser::value);
    if (in_.at_string()) return in_.string();
    if (in_.at_number()) return in_.number();
    return named_value(std::string(in_.word()));
  }

  Value named_value(const std::string& name) {
    if (name == "None") return None;
    if (name == "True") return true;
    if (name == "False") return false;
    if (name == "Ellipsis" || name == "...") return Ellipsis;
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "nan") return std::nan("");
    if (name == "slice" || name == "range") return slice_or_range(name);
    if (name.starts_with("torch."))
      if (const auto dtype = dtype_from_name(name)) return *dtype;
    in_.fail("a value instead of " + name);
  }

  Value slice_or_range(const std::string& name) {
    if (in_.peek() != '(') in_.fail("'('");
    const Value items = sequence(&Parser::value);
    const bool is_slice = name == "slice";
    if (items.size() != 3 && (is_slice || items.size() != 2))
      in_.fail("three parts of a " + name);
    if (is_slice) return Value::slice(items.at(0), items.at(1), items.at(2));
    for (const Value& item : items.as_sequence())
      if (!item.is_int()) in_.fail("integers in a range");
    return Value::range(items.at(0).as_int(), items.at(1).as_int(),
                        items.size() == 3 ? items.at(2).as_int() : 1);
  }

  Value sequence(Value (Parser::*item)()) {
    const DepthScope depth(*this);
    const bool is_list = in_.take('[');
    if (!is_list) in_.expect('(');
    const char close = is_list ? ']' : ')';
    ValueList items;
    bool comma = false;
    while (!in_.take(close)) {
      items.push_back((this->*item)());
      comma = in_.take(',');
      if (comma) continue;
      in_.expect(close);
      break;
    }
    if (is_list) return Value::list(std::move(items));
    // Parentheses around one value only group.
    if (items.size() == 1 && !comma) return items[0];
    return Value::tuple(std::move(items));
  }

  Value dict(Value (Parser::*item)()) {
    const DepthScope depth(*this);
    in_.expect('{');
    ValueDict items;
    while (!in_.take('}')) {
      Value key = value();
      in_.expect(':');
      items.emplace_back(std::move(key), (this->*item)());
      if (in_.take(',')) continue;
      in_.expect('}');
      break;
    }
    return Value::dict(std::move(items));
  }

  // --- Inferred values. ---
  Value val() {
    const char c = in_.peek();
    if (c == '(' || c == '[') return sequence(&Parser::val);
    if (c == '{') return dict(&Parser::val);
    TextScanner ahead = in_;
    if (is_identifier(std::string_view(&c, 1))) {
      const auto dtype = dtype_from_name(ahead.word());
      if (dtype && ahead.peek() == '[') {
        in_ = ahead;
        return meta_tensor(*dtype);
      }
    }
    return value();
  }

  Value meta_tensor(DType dtype) {
    const Dims sizes = dims('[', ']');
    for (int64_t size : sizes)
      if (size < 0) in_.fail("sizes that are not negative");
    numel(sizes);  // Refuses shapes beyond int64.
    Dims strides = contiguous_strides(sizes);
    if (in_.peek() == '{') strides = dims('{', '}');
    if (strides.size() != sizes.size()) in_.fail("as many strides as sizes");
    const int64_t offset = in_.take('+') ? in_.integer() : 0;
    return Tensor::meta(sizes, dtype, strides, offset);
  }

  Dims dims(char open, char close) {
    in_.expect(open);
    Dims result;
    while (!in_.take(close)) {
      result.push_back(in_.integer());
      if (in_.take(',')) continue;
      in_.expect(close);
      break;
    }
    return result;
  }

  // Deeper text is refused before values are made of it.
  struct DepthScope {
    explicit DepthScope(Parser& parser) : parser(parser) {
      if (++parser.depth_ > Value::kMaxNesting)
        parser.in_.fail("values nested at most " +
                        std::to_string(Value::kMaxNesting) + " deep");
    }
    ~DepthScope() { --parser.depth_; }
    Parser& parser;
  };

  TextScanner in_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  std::unordered_map<std::string_view, NodePtr> nodes_;  // Names of the graph.
  std::vector<std::shared_ptr<const ModuleStack>> stacks_;
  int depth_ = 0;
};

}  // namespace

std::unique_ptr<Graph> parse_graph(std::string_view text) {
  return Parser(text).parse();
}

Value parse_value(std::string_view text) { return Parser(text).parse_single(); }

}  // namespace fxjit::fx
