// Calls of every overload of ATen's that the table has, beside PyTorch's
// results: as recorded, with all arguments by position and with all by name.
#include "src/ops/aten/overload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "fxjit/functions_structured.h"
#include "src/ops/aten/torch_schema.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using testing::StructuredCase;
using Cases = std::map<std::string, std::vector<StructuredCase>>;

const Cases& cases() {
  static const auto* const all = [] {
    auto* const made = new Cases;
    for (StructuredCase& c :
         testing::read_structured_reference("overload_reference.txt"))
      (*made)[c.op].push_back(std::move(c));
    return made;
  }();
  return *all;
}

const ops::Spelling& spelling_of(const std::string& name) {
  return ops::get_function("aten." + name);
}

// What torch names with one underscore at the end, or "__iand__" and the like,
// writes its first argument.
bool writes(const std::string& name) {
  return name.substr(0, name.find('.')).ends_with('_') &&
         (name.starts_with("__i") || !name.starts_with("__"));
}

// What the call writes is not the file's.
ValueList owned(ValueList args) {
  args[0] = args[0].as_tensor().clone();
  return args;
}

Kwargs owned(Kwargs kwargs) {
  for (auto& [name, value] : kwargs)
    if (name == "out") value = value.as_tensor().clone();
  return kwargs;
}

// torch.ops gives lists where torch's functions give tuples, and so does this
// library.
Value in_tuples(const Value& value) {
  if (!value.is_sequence()) return value;
  ValueList items;
  for (const Value& item : value.as_sequence())
    items.push_back(in_tuples(item));
  return Value::tuple(std::move(items));
}

std::string difference(const StructuredCase& c, ValueList args,
                       const Kwargs& kwargs) {
  try {
    const ops::Spelling& spelling = spelling_of(c.op);
    if (writes(c.op) && !args.empty() && args[0].is_tensor())
      args = owned(std::move(args));
    return testing::difference(
        in_tuples(ops::call_function(spelling, args, owned(kwargs))),
        in_tuples(c.expected), false);
  } catch (const Error& error) {
    return error.what();
  }
}

// The first `positional` parameters by position, the others by name.
std::string difference_as(const StructuredCase& c, size_t positional) {
  const std::vector<ops::Parameter>& parameters =
      ops::parameters_of(spelling_of(c.op));
  const ValueList declared =
      ops::bind_declared(spelling_of(c.op), c.args, c.kwargs);
  ValueList args;
  Kwargs kwargs;
  for (size_t i = 0; i < declared.size(); ++i)
    if (i < positional && !parameters[i].keyword_only)
      args.push_back(declared[i]);
    else
      kwargs.emplace_back(parameters[i].name, declared[i]);
  if (writes(c.op) && args.empty() && !kwargs.empty())
    kwargs[0].second = kwargs[0].second.as_tensor().clone();
  return difference(c, args, kwargs);
}

TEST(Overloads, GivePyTorchsResults) {
  for (const auto& [name, list] : cases())
    for (const StructuredCase& c : list) {
      EXPECT_EQ(difference(c, c.args, c.kwargs), "") << c.text;
      EXPECT_EQ(difference_as(c, 100), "") << c.text;
      EXPECT_EQ(difference_as(c, 0), "") << c.text;
    }
}

TEST(Overloads, AllHaveACaseOrAReason) {
  std::set<std::string> without;
  std::ifstream file(std::string(FXJIT_SOURCE_DIR) +
                     "/tests/ops/overloads_without_cases.txt");
  for (std::string line; std::getline(file, line);)
    without.insert(line.substr(0, line.find(':')));
  EXPECT_FALSE(without.empty());
  for (const ops::OverloadRow& row : ops::overload_rows())
    if (!row.call.empty())
      EXPECT_NE(cases().contains(std::string(row.name)),
                without.contains(std::string(row.name)))
          << row.name;
}

TEST(Overloads, AreFoundByName) {
  for (const ops::OverloadRow& row : ops::overload_rows()) {
    const auto overload = ops::make_overload(row.name);
    ASSERT_EQ(overload != nullptr, !row.call.empty()) << row.name;
    if (!overload) continue;
    EXPECT_EQ(overload->name, row.name);
    EXPECT_EQ(overload->parameters.size(),
              ops::parse_torch_schema(row.schema).size())
        << row.name;
  }
  EXPECT_EQ(ops::make_overload("add.no_such"), nullptr);
  EXPECT_EQ(ops::make_overload("no_such"), nullptr);
  EXPECT_EQ(ops::make_overload("_"), nullptr);
  EXPECT_EQ(ops::make_overload(""), nullptr);
}

template <typename Expected>
std::string refusal(const char* name, const ValueList& args,
                    const Kwargs& kwargs = {}) {
  try {
    ops::call_function(spelling_of(name), args, kwargs);
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

TEST(Overloads, BindAsPythonDoes) {
  const Tensor x = Tensor::full({2, 3}, 1);
  EXPECT_THAT(refusal<TypeError>("relu.default", {}),
              HasSubstr("aten.relu.default() missing 1 required positional "
                        "argument: 'self'"));
  EXPECT_THAT(refusal<TypeError>("relu.default", {x, x}),
              HasSubstr("takes 1 positional argument but 2 were given"));
  EXPECT_THAT(refusal<TypeError>("add.Tensor", {x, x, 2}),
              HasSubstr("takes 2 positional arguments but 3 were given"));
  EXPECT_THAT(refusal<TypeError>("add.Tensor", {x, x}, {{"beta", 2}}),
              HasSubstr("unexpected keyword argument 'beta'"));
}

TEST(Overloads, RefuseByNameWhatNothingServes) {
  const Tensor x = Tensor::full({2, 3}, 1);
  EXPECT_THAT(refusal<NotImplementedError>("elu.default", {x, 1, 2}),
              HasSubstr("argument `scale` = 2 is not supported"));
  EXPECT_EQ(refusal<Error>("elu.default", {x, 1, 1, 1}), "");
  EXPECT_EQ(refusal<Error>("zeros_like.default", {x},
                           {{"layout", "strided"}, {"device", "cpu"}}),
            "");
}

// Of torch's core the ones that only training needs.
TEST(Overloads, LackBackwardPasses) {
  for (const char* name :
       {"_adaptive_avg_pool2d_backward", "avg_pool2d_backward",
        "convolution_backward", "embedding_dense_backward",
        "max_pool2d_with_indices_backward", "native_group_norm_backward",
        "native_layer_norm_backward"}) {
    const std::string spelling = std::string("aten.") + name + ".default";
    EXPECT_EQ(ops::find_function(spelling), nullptr);
    try {
      function("torch.ops." + spelling, {Tensor::zeros({1})});
      ADD_FAILURE() << spelling;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
