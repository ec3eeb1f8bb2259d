#include "src/ops/eager/convolution.h"

#include <cstring>

#include "src/ops/eager/matmul.h"
#include "src/ops/eager/places_inside.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// Geometry with three spatial dims; missing ones have size 1.
struct Geometry {
  int64_t image[3] = {1, 1, 1};   // Sizes of the padded-over operand.
  int64_t window[3] = {1, 1, 1};  // Kernel sizes.
  int64_t places[3] = {1, 1, 1};  // Where the window stands.
  int64_t stride[3] = {1, 1, 1};
  int64_t dilation[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0};

  int64_t image_elements() const { return image[0] * image[1] * image[2]; }
  int64_t window_elements() const { return window[0] * window[1] * window[2]; }
  int64_t place_count() const { return places[0] * places[1] * places[2]; }
};

// A transposed convolution moves the window over its output.
Geometry geometry(const ConvParams& params, const Tensor& input,
                  const Tensor& weight, const Tensor& out) {
  Geometry g;
  const Tensor& image = params.transposed ? out : input;
  const Tensor& places = params.transposed ? input : out;
  for (int i = 0; i < params.spatial; ++i) {
    const int d = 3 - params.spatial + i;
    g.image[d] = image.sizes()[2 + i];
    g.places[d] = places.sizes()[2 + i];
    g.window[d] = weight.sizes()[2 + i];
    g.stride[d] = params.stride[i];
    g.dilation[d] = params.dilation[i];
    g.pad[d] = params.pad_before[i];
  }
  return g;
}

// Calls fn(column, image_element) for the elements of one channel that the
// windows cover; column = window element * places + place.
template <typename Fn>
void for_each_tap(const Geometry& g, Fn&& fn) {
  int64_t row = 0;
  for (int64_t a = 0; a < g.window[0]; ++a)
    for (int64_t b = 0; b < g.window[1]; ++b)
      for (int64_t c = 0; c < g.window[2]; ++c, row += g.place_count()) {
        const int64_t first = c * g.dilation[2] - g.pad[2];
        const auto inside =
            places_inside(first, g.stride[2], g.image[2], g.places[2]);
        int64_t column = row;
        for (int64_t x = 0; x < g.places[0]; ++x) {
          const int64_t i = x * g.stride[0] + a * g.dilation[0] - g.pad[0];
          for (int64_t y = 0; y < g.places[1]; ++y, column += g.places[2]) {
            const int64_t j = y * g.stride[1] + b * g.dilation[1] - g.pad[1];
            if (i < 0 || i >= g.image[0] || j < 0 || j >= g.image[1]) continue;
            const int64_t line = (i * g.image[1] + j) * g.image[2] + first;
            for (int64_t z = inside.first; z < inside.second; ++z)
              fn(column + z, line + z * g.stride[2]);
          }
        }
      }
}

template <typename T>
class PlainConv {
 public:
  PlainConv(const ConvParams& params, const Tensor& input, const Tensor& weight,
            const Tensor& out)
      : geometry_(geometry(params, input, weight, out)),
        groups_(params.groups),
        input_channels_(input.sizes()[1] / groups_),
        output_channels_(out.sizes()[1] / groups_),
        input_(input.data_as<T>()),
        weight_(weight.data_as<T>()),
        out_(out.data_as<T>()),
        dtype_(input.dtype()) {
    const int64_t channels =
        params.transposed ? output_channels_ : input_channels_;
    columns_ = Tensor::empty(
        {channels * geometry_.window_elements(), geometry_.place_count()},
        dtype_);
  }

  // out[n, g] = weight[g] @ columns(input[n, g]).
  void forward(int64_t images) {
    const int64_t depth = columns_.sizes()[0], places = columns_.sizes()[1];
    const int64_t image = geometry_.image_elements();
    for (int64_t i = 0; i < images * groups_; ++i) {
      gather(input_ + i * input_channels_ * image);
      product(weight_ + (i % groups_) * output_channels_ * depth,
              output_channels_, depth, depth, 1, columns_.data_as<T>(), places,
              places, out_ + i * output_channels_ * places);
    }
  }

  // columns(out[n, g]) += weight[g]^T @ input[n, g].
  void transposed(int64_t images) {
    const int64_t rows = columns_.sizes()[0], places = columns_.sizes()[1];
    const int64_t image = geometry_.image_elements();
    for (int64_t i = 0; i < images * groups_; ++i) {
      product(weight_ + (i % groups_) * input_channels_ * rows, rows,
              input_channels_, 1, rows, input_ + i * input_channels_ * places,
              places, places, columns_.data_as<T>());
      scatter(out_ + i * output_channels_ * image);
    }
  }

 private:
  void gather(const T* image) {
    std::memset(columns_.data(), 0, columns_.storage()->bytes());
    T* to = columns_.data_as<T>();
    const int64_t step = geometry_.window_elements() * geometry_.place_count();
    for (int64_t c = 0; c < input_channels_; ++c) {
      for_each_tap(geometry_, [&](int64_t column, int64_t element) {
        to[column] = image[element];
      });
      to += step;
      image += geometry_.image_elements();
    }
  }

  void scatter(T* image) {
    const T* from = columns_.data_as<T>();
    const int64_t step = geometry_.window_elements() * geometry_.place_count();
    for (int64_t c = 0; c < output_channels_; ++c) {
      for_each_tap(geometry_, [&](int64_t column, int64_t element) {
        image[element] += from[column];
      });
      from += step;
      image += geometry_.image_elements();
    }
  }

  void product(const T* a, int64_t rows, int64_t depth, int64_t a_row,
               int64_t a_depth, const T* b, int64_t b_depth, int64_t columns,
               T* c) {
    MatmulArgs args;
    args.dtype = dtype_;
    args.rows = rows;
    args.columns = columns;
    args.depth = depth;
    args.a = a;
    args.a_row = a_row;
    args.a_depth = a_depth;
    args.b = b;
    args.b_depth = b_depth;
    args.c = c;
    args.c_row = columns;
    run_matmul(args);
  }

  Geometry geometry_;
  int64_t groups_, input_channels_, output_channels_;
  const T* input_;
  const T* weight_;
  T* out_;
  DType dtype_;
  Tensor columns_;
};

template <typename T>
void add_bias(const Tensor& bias, const Tensor& out) {
  const int64_t places = numel(out.sizes()) / (out.sizes()[0] * out.sizes()[1]);
  T* to = out.data_as<T>();
  for (int64_t n = 0; n < out.sizes()[0]; ++n)
    for (int64_t c = 0; c < out.sizes()[1]; ++c) {
      const T value = bias.data_as<T>()[c];
      for (int64_t i = 0; i < places; ++i) *to++ += value;
    }
}

template <typename T>
void run_conv_of(const ConvParams& params, const Tensor& input,
                 const Tensor& weight, const Tensor& bias, const Tensor& out) {
  PlainConv<T> conv(params, input, weight, out);
  if (params.transposed) {
    std::memset(out.data(), 0, static_cast<size_t>(out.numel()) * sizeof(T));
    conv.transposed(input.sizes()[0]);
  } else {
    conv.forward(input.sizes()[0]);
  }
  if (bias.defined()) add_bias<T>(bias, out);
}

}  // namespace

void run_conv(const ConvParams& params, const Tensor& input,
              const Tensor& weight, const Tensor& bias, const Tensor& out) {
  if (out.numel() == 0) return;
  // The half types are computed in float and rounded once.
  const DType dtype = compute_dtype(out.dtype());
  const Tensor x = input.to(dtype).contiguous();
  const Tensor w = weight.to(dtype).contiguous();
  const Tensor b = bias.defined() ? bias.to(dtype).contiguous() : bias;
  const Tensor wide =
      dtype == out.dtype() ? out : Tensor::empty(out.sizes(), dtype);
  if (dtype == DType::f32)
    run_conv_of<float>(params, x, w, b, wide);
  else if (dtype == DType::f64)
    run_conv_of<double>(params, x, w, b, wide);
  else
    throw InternalError("run_conv: " + out.describe());
  if (dtype != out.dtype()) out.copy_from(wide);
}

}  // namespace fxjit::ops
