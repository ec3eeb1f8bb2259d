#include "tests/ops/absurd_cases.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "src/support/memory/memory_limit.h"
#include "src/tensor/exact_int.h"
#include "tests/ops/reference.h"
#include "tests/ops/structured_reference.h"

namespace fxjit::testing {
namespace {

constexpr int64_t kAbsurd[] = {
    0,         -1,       int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 62,
    INT64_MAX, INT64_MIN};
constexpr size_t kCasesPerRow = 4;
constexpr int64_t kLargeBytes = 16 << 20;

bool is_plain_int(const Value& leaf) { return leaf.is_int(); }

bool is_index_tensor(const Value& leaf) {
  return leaf.is_tensor() && leaf.as_tensor().numel() > 0 &&
         leaf.as_tensor().dtype() == DType::i64;
}

int count_leaves(const ValueList& args) {
  int count = 0;
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value&) { ++count; });
  return count;
}

Tensor with_first(const Tensor& tensor, int64_t number) {
  const Tensor changed = tensor.clone();
  *changed.data_as<int64_t>() = number;
  return changed;
}

// `args` with leaf `at` replaced; None stands for a number not given.
Value replaced(const Value& leaf, int64_t number) {
  if (is_plain_int(leaf) || leaf.is_none()) return number;
  if (leaf.is_float()) return static_cast<double>(number);
  if (is_index_tensor(leaf)) return with_first(leaf.as_tensor(), number);
  return leaf;
}

void add_changed(const ops::Op& op, const ValueList& args,
                 std::vector<AbsurdCase>& cases) {
  const int leaves = count_leaves(args);
  for (int at = 0; at < leaves; ++at)
    for (int64_t number : kAbsurd) {
      int next = 0;
      bool changes = false;
      AbsurdCase made{&op, {}};
      for (const Value& arg : args)
        made.args.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
          if (next++ != at) return leaf;
          const Value other = replaced(leaf, number);
          changes = other.kind() != leaf.kind() || !same(other, leaf);
          return other;
        }));
      if (changes) cases.push_back(std::move(made));
    }
}

using Calls = std::map<const ops::Op*, std::vector<ValueList>>;

template <typename Case>
void add_calls(const std::vector<Case>& cases, Calls& calls) {
  for (const Case& c : cases) {
    const ops::Op& op = ops::get_op(c.op);
    ValueList args = ops::bind(op, c.args, c.kwargs);
    if (!ops::writes_input({op, args})) calls[&op].push_back(std::move(args));
  }
}

}  // namespace

std::string AbsurdCase::text() const {
  std::string text(op->name());
  for (const Value& arg : args) text += " " + repr(arg);
  return text;
}

std::vector<AbsurdCase> absurd_cases() {
  Calls calls;
  std::vector<StructuredCase> structured =
      read_structured_reference("structured_reference.txt");
  std::erase_if(structured, [](const StructuredCase& c) {
    return c.kind == StructuredCase::Kind::failure;
  });
  add_calls(structured, calls);
  add_calls(read_reference("elementwise_reference.txt"), calls);
  std::vector<AbsurdCase> cases;
  for (const ops::Op* op : ops::all_ops()) {
    const std::vector<ValueList>& known = calls[op];
    const size_t step = std::max<size_t>(1, known.size() / kCasesPerRow);
    for (size_t i = 0; i < known.size(); i += step)
      add_changed(*op, known[i], cases);
  }
  return cases;
}

namespace {

// Elements that a result takes: with its gaps where the row makes it.
int64_t extent_of(const ops::Op& op, const Tensor& t) {
  if (op.row.lowering != ops::Lowering::none || t.numel() == 0)
    return t.numel();
  support::ExactInt last = 0;
  for (int d = 0; d < t.dim(); ++d)
    last = last + support::ExactInt(t.size(d) - 1) * t.stride(d);
  return std::max<int64_t>(last + 1, t.numel());
}

bool is_large(const ops::Op& op, const Value& inferred) {
  bool large = false;
  visit_leaves(inferred, [&](const Value& leaf) {
    if (!leaf.is_tensor()) return;
    const Tensor& t = leaf.as_tensor();
    large |=
        extent_of(op, t) > kLargeBytes / static_cast<int64_t>(t.item_size());
  });
  return large;
}

Value as_meta(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    return Tensor::meta(t.sizes(), t.dtype(), t.strides(), t.offset());
  });
}

}  // namespace

AbsurdOutcome run_absurd(const AbsurdCase& c) {
  AbsurdOutcome outcome;
  try {
    ValueList metas;
    for (const Value& arg : c.args) metas.push_back(as_meta(arg));
    outcome.skipped = is_large(*c.op, ops::infer({*c.op, metas}));
  } catch (const Error& error) {
    outcome.error = error.what();  // The call with data may know more.
  }
  if (outcome.skipped || asked_for_much(outcome.error)) return outcome;
  outcome.error.clear();
  try {
    outcome.result = ops::run_eager({*c.op, c.args});
  } catch (const Error& error) {
    outcome.error = error.what();
    // Results that are as long as numbers say, which no shape rule tells.
    const std::string_view name = c.op->name();
    const bool as_long = name == "bincount" || name == "repeat_interleave";
    outcome.skipped = as_long && asked_for_much(outcome.error);
    if (outcome.skipped) outcome.error.clear();
  }
  return outcome;
}

bool asked_for_much(const std::string& error) {
  if (error.find("no memory for the result") != error.npos) return true;
  const std::string text = "no memory for ";
  const size_t at = error.find(text);
  if (at == error.npos) return false;
  size_t bytes = 0;
  std::from_chars(error.data() + at + text.size(), error.data() + error.size(),
                  bytes);
  return bytes <= support::memory_bytes();
}

}  // namespace fxjit::testing
