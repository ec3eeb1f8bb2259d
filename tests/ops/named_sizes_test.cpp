// Shape rules on named sizes: every reference call of structured and
// elementwise rows with names for its sizes. What a rule says of the names, put
// at other sizes, is what it says of these numbers. Ops whose rules ask for a
// number stand in specialised_sizes.txt, which may only grow shorter.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "fxjit/op.h"
#include "src/tensor/sizes/named.h"
#include "src/tensor/sizes/table.h"
#include "tests/ops/reference.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using testing::StructuredCase;

// A call with a name for each size of its tensors; equal sizes have one.
class NamedCall {
 public:
  NamedCall(const ops::Op& op, std::vector<Value> args)
      : op_(op), args_(std::move(args)) {
    for (const Value& arg : args_)
      visit_leaves(arg, [&](const Value& leaf) {
        if (!leaf.is_tensor()) return;
        for (const int64_t size : leaf.as_tensor().sizes())
          if (size >= 2) sizes_.insert(size);
      });
  }

  bool has_names() const { return !sizes_.empty(); }

  // The ops whose rule asks for a number.
  void check(std::set<std::string>& specialised, int& compared) {
    SizeTable table;
    const SizeTable::Scope scope(table);
    std::map<int64_t, Size> names;
    for (const int64_t size : sizes_)
      names[size] = table.name("n" + std::to_string(size), size);
    Value inferred;
    try {
      inferred =
          ops::infer({op_, with([&](int64_t size) { return names.at(size); })});
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return;  // What rules refuse of numbers, they refuse of names.
    }
    for (const SizeGuard& guard : table.guards())
      if (guard.specialises) specialised.insert(std::string(op_.name()));
    for (const int64_t step : {0, 1, 7})
      compare(table, inferred, step, compared);
  }

 private:
  // All named sizes grow by a step: what fits together still does, mostly.
  void compare(const SizeTable& table, const Value& inferred, int64_t step,
               int& compared) const {
    std::vector<int64_t> present, values;
    for (const int64_t size : sizes_) present.push_back(size + step * size);
    if (!table.evaluate(present, values)) return;
    const Value expected = ops::infer(
        {op_, with([&](int64_t size) { return Size(size + step * size); })});
    const Value got = map_leaves(inferred, [&](const Value& leaf) -> Value {
      const auto put = [&](Dims dims) {
        for (Size& size : dims) size = table.value(size, values);
        return dims;
      };
      if (leaf.is_named_size()) return table.value(leaf.as_size(), values);
      if (!leaf.is_tensor()) return leaf;
      const Tensor& t = leaf.as_tensor();
      return Tensor::meta(put(t.sizes()), t.dtype(), put(t.strides()),
                          table.value(t.offset(), values));
    });
    EXPECT_EQ(text_of(got), text_of(expected))
        << op_.name() << ", step " << step;
    ++compared;
  }

  static std::string text_of(const Value& value) {
    std::string text;
    visit_leaves(value, [&](const Value& leaf) {
      text += leaf.is_tensor() ? leaf.as_tensor().describe() +
                                     leaf.as_tensor().strides().str() + " at " +
                                     to_string(leaf.as_tensor().offset()) + "; "
                               : repr(leaf) + "; ";
    });
    return text;
  }

  template <typename Fn>
  std::vector<Value> with(const Fn& size_of) const {
    std::vector<Value> made;
    for (const Value& arg : args_)
      made.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
        if (!leaf.is_tensor()) return leaf;
        Dims sizes = leaf.as_tensor().sizes();
        for (Size& size : sizes)
          if (size >= 2) size = size_of(size);
        return Tensor::meta(sizes, leaf.as_tensor().dtype());
      }));
    return made;
  }

  const ops::Op& op_;
  const std::vector<Value> args_;
  std::set<int64_t> sizes_;
};

std::set<std::string> allowed() {
  std::ifstream file(FXJIT_SOURCE_DIR "/tests/ops/specialised_sizes.txt");
  std::set<std::string> names;
  for (std::string name; file >> name;) names.insert(name);
  return names;
}

void check(const std::string& name, const std::vector<Value>& args,
           const Kwargs& kwargs, std::set<std::string>& specialised,
           int& compared) {
  const ops::Op& op = ops::get_op(name);
  std::vector<Value> bound;
  try {
    bound = ops::bind(op, args, kwargs);
  } catch (const Error&) {
    return;
  }
  NamedCall call(op, std::move(bound));
  if (call.has_names()) call.check(specialised, compared);
}

TEST(NamedSizes, ShapeRulesTakeThem) {
  std::set<std::string> specialised;
  int compared = 0;
  for (const StructuredCase& c :
       testing::read_structured_reference("structured_reference.txt"))
    check(c.op, c.args, c.kwargs, specialised, compared);
  for (const testing::ReferenceCase& c :
       testing::read_reference("elementwise_reference.txt"))
    check(c.op, c.args, c.kwargs, specialised, compared);
  EXPECT_GT(compared, 3000);
  const std::set<std::string> known = allowed();
  for (const std::string& name : specialised)
    EXPECT_TRUE(known.contains(name)) << name << " asks for a number";
  for (const std::string& name : known)
    EXPECT_TRUE(specialised.contains(name)) << name << " need not be listed";
}

}  // namespace TEST_FILE
}  // namespace fxjit
