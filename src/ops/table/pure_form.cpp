#include "src/ops/table/pure_form.h"

#include "src/ops/table/op_facts.h"

namespace fxjit::ops {

const Op* pure_form(const Op& op) {
  if (const char* const stated = facts_of(op).pure) return &get_op(stated);
  const std::string_view name = op.name();
  if (!name.ends_with('_')) return nullptr;
  const Op* const pure = find_op(name.substr(0, name.size() - 1));
  const bool fits = pure && std::string_view(pure->row.schema) == op.row.schema;
  return fits ? pure : nullptr;
}

}  // namespace fxjit::ops
