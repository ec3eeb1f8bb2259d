#include "src/ops/eager/post_op_of.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace fxjit::ops {
namespace {

using Work = std::optional<PostOp>;

std::optional<float> number(const OpCall& call, size_t i) {
  if (!call[i].is_number()) return std::nullopt;
  return static_cast<float>(call[i].as_double());
}

template <PostKind kind>
Work plain(const OpCall&, size_t at) {
  return at == 0 ? Work(PostOp{kind}) : std::nullopt;
}

Work relu6(const OpCall&, size_t at) {
  return at == 0 ? Work(PostOp{PostKind::clip, 0, 6}) : std::nullopt;
}

// hardtanh, clamp: (input, low, high).
Work bounded(const OpCall& call, size_t at) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  const auto low = call.has(1) ? number(call, 1) : -kNone;
  const auto high = call.has(2) ? number(call, 2) : kNone;
  if (at != 0 || !low || !high || !(*low <= *high)) return std::nullopt;
  return PostOp{PostKind::clip, *low, *high};
}

Work leaky_relu(const OpCall& call, size_t at) {
  const auto slope = number(call, 1);
  if (at != 0 || !slope) return std::nullopt;
  return PostOp{PostKind::leaky_relu, *slope};
}

// add, sub: (input, other, alpha).
bool is_scaled(const OpCall& call) {
  return !call[2].is_number() || call[2].as_double() != 1;
}

Work add(const OpCall& call, size_t at) {
  if (is_scaled(call)) return std::nullopt;
  if (const auto other = number(call, 1 - at))
    return PostOp{PostKind::affine, 1, *other};
  return PostOp{PostKind::add, 0, 0, 0};
}

Work sub(const OpCall& call, size_t at) {
  const auto other = number(call, 1);
  if (at != 0 || is_scaled(call) || !other) return std::nullopt;
  return PostOp{PostKind::affine, 1, -*other};
}

Work mul(const OpCall& call, size_t at) {
  if (const auto other = number(call, 1 - at))
    return PostOp{PostKind::affine, *other, 0};
  return PostOp{PostKind::multiply, 0, 0, 0};
}

struct Row {
  std::string_view op;
  Work (*read)(const OpCall&, size_t at);
};

constexpr Row kRows[] = {
    {"relu", plain<PostKind::relu>},
    {"relu6", relu6},
    {"hardtanh", bounded},
    {"clamp", bounded},
    {"hardsigmoid", plain<PostKind::hardsigmoid>},
    {"hardswish", plain<PostKind::hardswish>},
    {"sigmoid", plain<PostKind::sigmoid>},
    {"silu", plain<PostKind::silu>},
    {"leaky_relu", leaky_relu},
    {"add", add},
    {"sub", sub},
    {"mul", mul},
};

}  // namespace

std::optional<PostOp> post_op_of(const OpCall& call, size_t at) {
  const auto* const row = std::ranges::find(kRows, call.op.name(), &Row::op);
  return row == std::end(kRows) ? std::nullopt : row->read(call, at);
}

}  // namespace fxjit::ops
