#include "tests/compile/graph_layers.h"

#include <algorithm>
#include <cmath>

namespace fxjit::testing {

Item LayerCalls::image() {
  for (int tries = 0; tries < 6; ++tries) {
    const Item x = any();
    if (x.value.dim() == 4 && x.value.dtype() == DType::f32 &&
        x.value.numel() > 0)
      return x;
  }
  return add_input({1 + pick(2), 1 + pick(6), 3 + pick(7), 3 + pick(7)},
                   DType::f32);
}

bool LayerCalls::layer() {
  if (chance(0.45)) return convolution();
  const Item x = image();
  if (chance(0.5)) return pool(x);
  const int64_t channels = x.value.size(1);
  switch (pick(4)) {
    case 0:
      // What rounding leaves of groups of one element is no number to compare.
      return x.value.numel() > 2 * x.value.size(0) * channels &&
             call("F.group_norm",
                  {x.node, channels % 2 == 0 ? 2 : 1,
                   add_constant({channels}).node, None, 1e-1});
    case 1: {
      const Item mean = add_constant({channels}), scale = add_constant({channels});
      const Item spread = add_constant({channels});
      return call("square", {spread.node}) &&
             call("F.batch_norm",
                  {x.node, mean.node, items_.back().node, scale.node, None,
                   false, 0.1, 1e-1});
    }
    case 2:
      return x.value.size(2) > 1 &&
             call("F.instance_norm",
                  {x.node, None, None, None, None, true, 0.1, 1e-1});
    default:
      return call("F.interpolate", {x.node}, {{"scale_factor", 2}});
  }
}

bool LayerCalls::convolution() {
  const bool line = chance(0.25);
  const Item x =
      line ? add_input({1 + pick(2), 1 + pick(6), 4 + pick(12)}, DType::f32)
           : image();
  const int64_t channels = x.value.size(1), features = 1 + pick(8);
  const int64_t window = one_of<int64_t>({1, 2, 3, 3});
  const bool depthwise = chance(0.2), transposed = chance(0.3);
  const int64_t groups = depthwise ? channels : 1;
  const int64_t out = depthwise ? channels : features;
  Dims sizes = transposed ? Dims{channels, out / groups}
                          : Dims{out, channels / groups};
  sizes.push_back(window);
  if (!line) sizes.push_back(window);
  // Where padding meets an infinity, torch's own kernels differ.
  const Item kernel = weight(sizes);
  const Value bias = chance(0.5) ? Value(add_constant({out}).node) : None;
  const int64_t stride = 1 + pick(2), padding = pick(2);
  if (transposed)
    return call(line ? "conv_transpose1d" : "conv_transpose2d",
                {x.node, kernel.node, bias, stride, padding, 0, groups});
  return call(line ? "conv1d" : "conv2d",
              {x.node, kernel.node, bias, stride, padding, 1, groups});
}

bool LayerCalls::pool(const Item& x) {
  switch (pick(4)) {
    case 0:
      return call("F.max_pool2d", {x.node, 2, 1 + pick(2)});
    case 1:
      return call("avg_pool2d", {x.node, 2, 1 + pick(2)});
    case 2:
      return call("F.adaptive_avg_pool2d", {x.node, 1 + pick(3)});
    default:
      return x.value.size(1) % 4 == 0 ? call("F.pixel_shuffle", {x.node, 2})
                                      : call("F.unfold", {x.node, 2});
  }
}

bool LayerCalls::pieces() {
  const Item x = any();
  if (x.value.dim() == 0) return false;
  const int64_t dim = random_dim(x.value), size = x.value.size(dim);
  switch (pick(6)) {
    case 0:
      return call("torch.split", {x.node, 1 + pick(3), dim});
    case 1:
      return size > 1 && call("torch.split",
                              {x.node, Value::list({1, size - 1}), dim});
    case 2:
      return call("chunk", {x.node, 1 + pick(3), dim});
    case 3:
      return size < 12 && call("unbind", {x.node, dim});
    case 4:
      return call("tensor_split", {x.node, 1 + pick(3), dim});
    default:
      return call(x.value.dim() > 1 ? "hsplit" : "tensor_split",
                  {x.node, Value::list({1})});
  }
}

bool LayerCalls::broadcasts() {
  const Item x = any(), y = partner(x);
  if (chance(0.6)) return call("torch.broadcast_tensors", {x.node, y.node});
  const Item a = add_input({1 + pick(5)}, DType::f32);
  const Item b = chance(0.5) ? a : add_input({1 + pick(4)}, DType::f32);
  return call("torch.meshgrid", {a.node, b.node},
              {{"indexing", one_of({"ij", "xy"})}});
}

bool LayerCalls::einsum() {
  const Item x = any_float();
  if (x.value.dtype() != DType::f32 || x.value.dim() == 0) return false;
  const int64_t last = x.value.size(-1);
  switch (pick(4)) {
    case 0:
      return call("torch.functional.einsum", {"...i->...i", x.node});
    case 1:
      return call("torch.functional.einsum",
                  {"...i,ij->...j", x.node,
                   input_or_constant({last, random_size()}).node});
    case 2:
      return x.value.dim() == 2 &&
             call("torch.functional.einsum", {"ij->ji", x.node});
    default:
      return x.value.dim() == 2 && call("torch.functional.einsum",
                                        {"ij,ij->i", x.node, x.node});
  }
}

bool LayerCalls::composite() {
  const Item x = any();
  const int rank = x.value.dim();
  switch (pick(12)) {
    case 0:
      return broadcasts();
    case 1:
      return einsum();
    case 2:
      return call(one_of({"torch.atleast_1d", "torch.atleast_2d",
                          "torch.atleast_3d"}),
                  {x.node});
    case 3:
      return call(one_of({"torch.hstack", "torch.vstack", "torch.column_stack"}),
                  {Value::list({x.node, x.node})});
    case 4:
      return rank < 4 && call(".repeat", {x.node, Dims(rank + 1, 2)});
    case 5:
      return rank > 1 && call("diagonal", {x.node, pick(3) - 1, 0, -1});
    case 6:
      return rank > 0 && x.value.size(-1) > 1 &&
             call(".unfold", {x.node, -1, 2, 1 + pick(2)});
    case 7:
      return rank > 0 && x.value.size(-1) % 2 == 0 && is_float(x.value) &&
             call("glu", {x.node, -1});
    case 8:
      return rank > 1 && call("movedim", {x.node, 0, -1});
    case 9:
      return rank > 1 && call(one_of({"torch.rot90", "torch.fliplr"}), {x.node});
    case 10:
      return rank > 0 && x.value.size(0) > 0 &&
             call("narrow", {x.node, 0, 0, 1 + pick(x.value.size(0))});
    default:
      return rank > 0 && call("_operator.getitem",
                              {x.node, Value::tuple({Value::slice(0, 2),
                                                     Ellipsis, None})});
  }
}

// Elements that are equal, or nearly, have no order.
bool LayerCalls::sort() {
  const Item x = any_float();
  if (x.value.dim() == 0 || x.value.size(-1) == 0 || case_.special ||
      depends_on_rounding(x) || !all_apart(x.value))
    return false;
  switch (pick(4)) {
    case 0:
      return call("torch.sort", {x.node, -1});
    case 1:
      return call("torch.topk", {x.node, 1 + pick(x.value.size(-1)), -1});
    case 2:
      return call("torch.max", {x.node, -1});
    default:
      return call("torch.aminmax", {x.node}, {{"dim", -1}});
  }
}

bool LayerCalls::alias() {
  const Item x = any();
  switch (pick(10)) {
    case 0:
      return call(".to", {x.node, x.value.dtype()});
    case 1:
      return x.value.dtype() == DType::f32 && call(".float", {x.node});
    case 2: {
      const Item y = any();
      const bool jumps = !is_float(y.value) && is_float(x.value);
      return !jumps && call(".type_as", {x.node, y.node});
    }
    case 3:
      return call(".contiguous", {x.node});
    case 4:
      return is_float(x.value) && call("F.dropout", {x.node, 0.5, false});
    case 5:
      return x.value.dtype() != DType::boolean && call("positive", {x.node});
    case 6:
      return call("detach", {x.node});
    case 7:
      return call(one_of({"torch.ravel", ".reshape_as"}),
                  chance(0.5) ? ValueList{x.node}
                              : ValueList{x.node, any().node});
    case 8:
      return call(".expand_as", {x.node, partner(x).node});
    default:
      return call(".view", {x.node, random_factors(x.value.numel())});
  }
}

}  // namespace fxjit::testing
