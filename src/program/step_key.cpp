// Text form of steps, used as a key: every field that changes the generated
// code, and nothing else.
#include <bit>

#include "src/program/steps.h"

namespace fxjit::program {
namespace {

class KeyWriter {
 public:
  explicit KeyWriter(const char* kind) : text_(kind) {}

  KeyWriter& add(int64_t value) {
    text_ += ' ';
    text_ += std::to_string(value);
    return *this;
  }
  KeyWriter& add(const Dims& dims) {
    text_ += ' ';
    text_ += dims.str();
    return *this;
  }
  KeyWriter& add(const Access& access) {
    text_ += '|';
    text_ += dtype_name(access.dtype);
    add(access.outer).add(access.reduce).add(access.inner);
    if (access.gather_slot >= 0)
      add(access.gather_slot)
          .add(access.gather_stride)
          .add(access.gather_limit);
    return *this;
  }
  KeyWriter& add(const TileAccess& access) {
    text_ += '|';
    text_ += dtype_name(access.dtype);
    return add(access.batch).add(access.row).add(access.column);
  }
  KeyWriter& add(const HeadAccess& access) {
    text_ += '|';
    return add(access.outer).add(access.batch).add(access.head).add(access.row);
  }
  KeyWriter& add(const AttentionMask& mask) {
    add(static_cast<int64_t>(mask.kind)).add(mask.access).add(mask.key_stride);
    text_ += ' ' + std::to_string(std::bit_cast<uint32_t>(mask.value));
    return *this;
  }
  KeyWriter& add(const ScalarBody& body) {
    text_ += '\n';
    text_ += body.str();
    return *this;
  }
  template <typename T>
  KeyWriter& add(const std::vector<T>& items) {
    text_ += " (";
    for (const T& item : items) add(item);
    text_ += ')';
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string key_of(const RowStep& step) {
  KeyWriter key("row");
  // Rows are handed out by number: one outer dim needs no size in the code.
  if (step.outer.size() > 1) key.add(step.outer);
  key.add(step.outer.size()).add(step.inner).add(step.inputs);
  return key.add(step.outputs).add(step.body).take();
}

std::string key_of(const ColumnStep& step) {
  KeyWriter key("column");
  key.add(step.outer).add(step.reduce).add(step.inner);
  return key.add(step.inputs).add(step.outputs).add(step.body).take();
}

std::string key_of(const TileStep& step) {
  KeyWriter key("tile");
  key.add(step.batch).add(step.rows).add(step.columns).add(step.depth);
  key.add(step.lhs_batch).add(step.lhs_row).add(int64_t{step.rhs_batched});
  key.add(int64_t{step.strict});
  return key.add(step.extras).add(step.outputs).add(step.epilogue).take();
}

std::string key_of(const AttentionStep& step) {
  KeyWriter key("attention");
  key.add(step.outer).add(step.batch).add(step.heads).add(step.queries);
  key.add(step.keys).add(step.depth).add(step.value_depth);
  key.add(step.q).add(step.k).add(step.v).add(step.out);
  key.add(step.masks).add(int64_t{step.causal}).add(int64_t{step.zero_rows});
  return key.take() + " " + std::to_string(std::bit_cast<uint32_t>(step.scale));
}

std::string key_of(const WinogradStep&) {
  throw InternalError("a Winograd step's code is that of its form");
}

std::string key_of(const ExternStep& step) {
  return "extern " + step.kernel->describe();
}

}  // namespace

std::string step_key(const StepBody& body) {
  return std::visit([](const auto& step) { return key_of(step); }, body);
}

}  // namespace fxjit::program
