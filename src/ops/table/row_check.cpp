#include "src/ops/table/row_check.h"

#include <set>
#include <string>

#include "src/ops/table/schema.h"

namespace fxjit::ops {
namespace {

[[noreturn]] void refuse(const OpRow& row, const std::string& reason) {
  throw UserError("[" + std::string(row.name) + "] register_ops: " + reason);
}

void require(const OpRow& row, bool given, const char* field,
             const char* meaning) {
  if (!given) refuse(row, "expected `" + std::string(field) + "`, " + meaning);
}

// A body or a decomposition that its lowering never looks at is a slip.
void check_unused(const OpRow& row) {
  if (row.scalar && row.lowering != Lowering::scalar)
    refuse(row, "`scalar` is given; expected Lowering::scalar with it");
  if (row.decompose && row.lowering == Lowering::none && !row.eager &&
      !row.direct)
    refuse(row, "`decompose` is given; expected Lowering::decompose with it");
}

void check_scalar(const OpRow& row) {
  require(row, row.scalar, "scalar", "the body of Lowering::scalar");
  require(row, row.infer || row.scalar_types != ScalarTypes::custom, "infer",
          "the shape and type rule of ScalarTypes::custom");
}

void check_eager(const OpRow& row) {
  require(row, row.eager || row.direct, "eager",
          "the kernel of an op without a lowering (or `direct`, or "
          "Lowering::scalar with `scalar`, or Lowering::decompose with "
          "`decompose`)");
}

}  // namespace

void check_row(const OpRow& row) {
  if (!row.name || !*row.name)
    throw UserError("register_ops: expected a row with a name");
  require(row, row.schema, "schema", "the parameters");
  require(row, row.names, "names", "the spellings, or an empty text");
  check_unused(row);
  if (row.lowering == Lowering::scalar) return check_scalar(row);
  if (row.lowering == Lowering::decompose || row.lowering == Lowering::inlined)
    return require(row, row.decompose, "decompose",
                   "what Lowering::decompose and Lowering::inlined call");
  require(row, row.infer || row.decompose, "infer",
          "the shape rule: meta tensors in, meta tensor out");
  if (row.lowering == Lowering::none) check_eager(row);
}

std::vector<Parameter> row_parameters(const OpRow& row) {
  std::vector<Parameter> parameters;
  try {
    parameters = parse_schema(row.schema);
  } catch (const UserError& error) {
    refuse(row, error.message());
  }
  std::set<std::string> names;
  for (const Parameter& parameter : parameters)
    if (!names.insert(parameter.name).second)
      refuse(row, "schema: `" + parameter.name + "` stands twice");
  return parameters;
}

}  // namespace fxjit::ops
