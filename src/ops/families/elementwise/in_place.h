// Rows of methods with a trailing underscore whose op without it has a row of
// its own: its result is copied into the first argument.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

Value infer_written(const OpCall& call);
Value eager_written(const OpCall& call);

// `name` is that of the op, followed by an underscore; compiled graphs call the
// op instead if it has the same schema.
constexpr OpRow writer(const char* name, const char* schema,
                       const char* names) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .infer = infer_written,
          .eager = eager_written,
          .purity = Purity::mutates};
}

}  // namespace fxjit::ops
