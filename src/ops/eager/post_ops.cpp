#include "src/ops/eager/post_ops.h"

namespace fxjit::ops {

Value to_value(const PostOps& work) {
  ValueList rows;
  for (const PostOp& op : work)
    rows.push_back(
        Value::tuple({static_cast<int64_t>(op.kind), static_cast<double>(op.a),
                      static_cast<double>(op.b), op.tensor}));
  return rows.empty() ? Value() : Value::tuple(std::move(rows));
}

PostOps post_ops_of(const Value& value) {
  PostOps work;
  if (value.is_none()) return work;
  for (const Value& row : value.as_sequence())
    work.push_back({static_cast<PostKind>(row.at(0).as_int()),
                    static_cast<float>(row.at(1).as_double()),
                    static_cast<float>(row.at(2).as_double()),
                    static_cast<int>(row.at(3).as_int())});
  return work;
}

}  // namespace fxjit::ops
