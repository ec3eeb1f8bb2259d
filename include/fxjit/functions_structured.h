// torch's functions beyond the elementwise ones, part of fxjit/functions.h:
// reductions, norms, views, products, convolutions, indexing, creation. Names,
// parameters and defaults are torch's. An optional argument left at None is not
// passed on, so that it is recorded as torch.fx records the shorter call.
//
// `dim` counts from the end when negative; a list of dims is written {0, 1}.
// Shapes that do not fit raise RuntimeError with torch's text, a bad index or
// dim IndexError.
#pragma once

#include "fxjit/functions.h"

namespace fxjit {

// Reductions over `dim`: an int, several ints, or None for all elements. Sums
// and products of integers are int64.
Value sum(const Arg& input, const Arg& dim = None, const Arg& keepdim = None,
          const Arg& dtype = None);
Value prod(const Arg& input, const Arg& dim = None, const Arg& keepdim = None,
           const Arg& dtype = None);
Value mean(const Arg& input, const Arg& dim = None, const Arg& keepdim = None,
           const Arg& dtype = None);
Value amax(const Arg& input, const Arg& dim = None, const Arg& keepdim = None);
Value amin(const Arg& input, const Arg& dim = None, const Arg& keepdim = None);
Value any(const Arg& input, const Arg& dim = None, const Arg& keepdim = None);
Value all(const Arg& input, const Arg& dim = None, const Arg& keepdim = None);
// One element; with an int `dim` a tuple (values, indices); with a tensor the
// elementwise maximum.
Value max(const Arg& input, const Arg& dim_or_other = None,
          const Arg& keepdim = None);
Value min(const Arg& input, const Arg& dim_or_other = None,
          const Arg& keepdim = None);
// Position of the first extremum, int64; of the flattened tensor without `dim`.
Value argmax(const Arg& input, const Arg& dim = None,
             const Arg& keepdim = None);
Value argmin(const Arg& input, const Arg& dim = None,
             const Arg& keepdim = None);
// Variance and its root with divisor max(0, N - correction); correction is 1
// when None.
Value var(const Arg& input, const Arg& dim = None, const Arg& correction = None,
          const Arg& keepdim = None);
Value std(const Arg& input, const Arg& dim = None, const Arg& correction = None,
          const Arg& keepdim = None);
Value logsumexp(const Arg& input, const Arg& dim, const Arg& keepdim = None);
Value linalg_vector_norm(const Arg& input, const Arg& ord = None,
                         const Arg& dim = None, const Arg& keepdim = None);
// `p`: a number or "fro".
Value norm(const Arg& input, const Arg& p = None, const Arg& dim = None,
           const Arg& keepdim = None);
Value cumsum(const Arg& input, const Arg& dim);

// Normalisation along `dim`. Rows of -inf give NaN.
Value softmax(const Arg& input, const Arg& dim, const Arg& dtype = None);
Value log_softmax(const Arg& input, const Arg& dim, const Arg& dtype = None);

// Views share their input's storage; `reshape` and `flatten` copy where no
// strides would do.
Value reshape(const Arg& input, const Arg& shape);
Value flatten(const Arg& input, const Arg& start_dim = None,
              const Arg& end_dim = None);
Value unflatten(const Arg& input, const Arg& dim, const Arg& sizes);
Value permute(const Arg& input, const Arg& dims);
Value transpose(const Arg& input, const Arg& dim0, const Arg& dim1);
Value t(const Arg& input);
Value movedim(const Arg& input, const Arg& source, const Arg& destination);
Value squeeze(const Arg& input, const Arg& dim = None);
Value unsqueeze(const Arg& input, const Arg& dim);
Value select(const Arg& input, const Arg& dim, const Arg& index);
Value narrow(const Arg& input, const Arg& dim, const Arg& start,
             const Arg& length);
Value diagonal(const Arg& input, const Arg& offset = None,
               const Arg& dim1 = None, const Arg& dim2 = None);
Value as_strided(const Arg& input, const Arg& size, const Arg& stride,
                 const Arg& storage_offset = None);
// Tuples of views: pieces of a size or of each size of a list; `chunks` pieces;
// each element along `dim`.
Value split(const Arg& tensor, const Arg& split_size_or_sections,
            const Arg& dim = None);
Value chunk(const Arg& input, const Arg& chunks, const Arg& dim = None);
Value unbind(const Arg& input, const Arg& dim = None);
// Methods of a tensor in torch: recorded as such.
Value view(const Arg& input, const Arg& size);
Value expand(const Arg& input, const Arg& size);

// New tensors from elements of others.
Value cat(const Arg& tensors, const Arg& dim = None);
Value stack(const Arg& tensors, const Arg& dim = None);
Value repeat(const Arg& input, const Arg& repeats);  // A method in torch.
Value repeat_interleave(const Arg& input, const Arg& repeats,
                        const Arg& dim = None);
Value flip(const Arg& input, const Arg& dims);
Value roll(const Arg& input, const Arg& shifts, const Arg& dims = None);
Value tril(const Arg& input, const Arg& diagonal = None);
Value triu(const Arg& input, const Arg& diagonal = None);
// These run eagerly only: the result, or its size, depends on the data.
Value masked_select(const Arg& input, const Arg& mask);
// Places of what is not zero, i64 [count, rank]; `as_tuple` a tensor per dim.
Value nonzero(const Arg& input, const Arg& as_tuple = None);
// Elements, or slices along `dim`, that differ, in ascending order: a tensor,
// or a tuple with the place of each in it (inverse) and how often each stands
// there (counts) where these are wanted. No NaN equals another.
Value unique(const Arg& input, const Arg& return_inverse = None,
             const Arg& return_counts = None, const Arg& dim = None);
// The number of a tensor of one element.
Value item(const Arg& input);
// `q`, a number in [0, 1] or f32 / f64 tensor [quantiles], which come first in
// the result. `interpolation`: "linear", "lower", "higher", "midpoint" or
// "nearest".
Value quantile(const Arg& input, const Arg& q, const Arg& dim = None,
               const Arg& keepdim = None, const Arg& interpolation = None);
Value index_select(const Arg& input, const Arg& dim, const Arg& index);
Value gather(const Arg& input, const Arg& dim, const Arg& index);
Value take_along_dim(const Arg& input, const Arg& indices,
                     const Arg& dim = None);
Value scatter(const Arg& input, const Arg& dim, const Arg& index,
              const Arg& src);
Value scatter_add(const Arg& input, const Arg& dim, const Arg& index,
                  const Arg& src);
// input[indices[0], indices[1], ...]; None takes a whole dim.
Value index(const Arg& input, const Arg& indices);

// Products. `matmul` follows NumPy's rules for vectors and batches.
Value matmul(const Arg& input, const Arg& other);
Value mm(const Arg& input, const Arg& mat2);
Value bmm(const Arg& input, const Arg& mat2);
Value mv(const Arg& input, const Arg& vec);
Value dot(const Arg& input, const Arg& tensor);
Value outer(const Arg& input, const Arg& vec2);
// beta * input + alpha * (mat1 @ mat2).
Value addmm(const Arg& input, const Arg& mat1, const Arg& mat2);
Value baddbmm(const Arg& input, const Arg& batch1, const Arg& batch2);
// `operands` is a list of tensors.
Value einsum(std::string_view equation, const Arg& operands);

// Creation. `size` is a list of ints.
Value zeros(const Arg& size, const Arg& dtype = None);
Value ones(const Arg& size, const Arg& dtype = None);
Value full(const Arg& size, const Arg& fill_value, const Arg& dtype = None);
Value arange(const Arg& start, const Arg& end = None, const Arg& step = None,
             const Arg& dtype = None);
Value eye(const Arg& n, const Arg& m = None, const Arg& dtype = None);
Value linspace(const Arg& start, const Arg& end, const Arg& steps,
               const Arg& dtype = None);

namespace nn::functional {

Value softmax(const Arg& input, const Arg& dim, const Arg& dtype = None);
Value log_softmax(const Arg& input, const Arg& dim, const Arg& dtype = None);
Value layer_norm(const Arg& input, const Arg& normalized_shape,
                 const Arg& weight = None, const Arg& bias = None,
                 double eps = 1e-5);
// `eps` None: the machine epsilon of the type that is computed in.
Value rms_norm(const Arg& input, const Arg& normalized_shape,
               const Arg& weight = None, const Arg& eps = None);
// With the running statistics; training is refused where it would update them.
Value batch_norm(const Arg& input, const Arg& running_mean,
                 const Arg& running_var, const Arg& weight = None,
                 const Arg& bias = None, bool training = false,
                 double momentum = 0.1, double eps = 1e-5);
Value group_norm(const Arg& input, const Arg& num_groups,
                 const Arg& weight = None, const Arg& bias = None,
                 double eps = 1e-5);
// Divides by the p-norm along `dim`, or by `eps` where that is greater.
Value normalize(const Arg& input, double p = 2.0, const Arg& dim = 1,
                double eps = 1e-12);

// input [..., in] @ weight[out, in]^T + bias [out].
Value linear(const Arg& input, const Arg& weight, const Arg& bias = None);

// Input [N, C, ...] or [C, ...]; weight [C_out, C / groups, ...], transposed
// [C, C_out / groups, ...]. `padding` may be "same" or "valid".
Value conv1d(const Arg& input, const Arg& weight, const Arg& bias = None,
             const Arg& stride = None, const Arg& padding = None,
             const Arg& dilation = None, const Arg& groups = None);
Value conv2d(const Arg& input, const Arg& weight, const Arg& bias = None,
             const Arg& stride = None, const Arg& padding = None,
             const Arg& dilation = None, const Arg& groups = None);
Value conv3d(const Arg& input, const Arg& weight, const Arg& bias = None,
             const Arg& stride = None, const Arg& padding = None,
             const Arg& dilation = None, const Arg& groups = None);
Value conv_transpose1d(const Arg& input, const Arg& weight,
                       const Arg& bias = None, const Arg& stride = None,
                       const Arg& padding = None,
                       const Arg& output_padding = None,
                       const Arg& groups = None, const Arg& dilation = None);
Value conv_transpose2d(const Arg& input, const Arg& weight,
                       const Arg& bias = None, const Arg& stride = None,
                       const Arg& padding = None,
                       const Arg& output_padding = None,
                       const Arg& groups = None, const Arg& dilation = None);

// `stride` None: the kernel size.
Value max_pool1d(const Arg& input, const Arg& kernel_size,
                 const Arg& stride = None, const Arg& padding = 0,
                 const Arg& dilation = 1, bool ceil_mode = false);
Value max_pool2d(const Arg& input, const Arg& kernel_size,
                 const Arg& stride = None, const Arg& padding = 0,
                 const Arg& dilation = 1, bool ceil_mode = false);
Value avg_pool1d(const Arg& input, const Arg& kernel_size,
                 const Arg& stride = None, const Arg& padding = None,
                 const Arg& ceil_mode = None,
                 const Arg& count_include_pad = None);
Value avg_pool2d(const Arg& input, const Arg& kernel_size,
                 const Arg& stride = None, const Arg& padding = None,
                 const Arg& ceil_mode = None,
                 const Arg& count_include_pad = None,
                 const Arg& divisor_override = None);
// Pools to `output_size` cells per spatial dim (None keeps a dim's size).
Value adaptive_avg_pool1d(const Arg& input, const Arg& output_size);
Value adaptive_avg_pool2d(const Arg& input, const Arg& output_size);
Value adaptive_max_pool2d(const Arg& input, const Arg& output_size);
// The first half along `dim` times the sigmoid of the second.
Value glu(const Arg& input, const Arg& dim = -1);
// `mode`: "nearest", "nearest-exact", "linear", "bilinear" or "trilinear".
Value interpolate(const Arg& input, const Arg& size = None,
                  const Arg& scale_factor = None, const Arg& mode = "nearest",
                  const Arg& align_corners = None);

// Rows of `weight`; IndexError for an index outside of it.
Value embedding(const Arg& input, const Arg& weight,
                const Arg& padding_idx = None);
// int64; without `num_classes` it runs eagerly only.
Value one_hot(const Arg& tensor, const Arg& num_classes = None);
// `pad`: pairs (before, after) from the last dim backwards. `mode`: "constant",
// "reflect", "replicate" or "circular".
Value pad(const Arg& input, const Arg& pad, const Arg& mode = "constant",
          const Arg& value = None);

// softmax(query key^T * scale + mask) value over [..., heads, rows, depth]. A
// bool mask is true where a key counts; a row without keys gives zeros. `scale`
// None: 1 / sqrt(depth). Dropout is refused when run.
Value scaled_dot_product_attention(const Arg& query, const Arg& key,
                                   const Arg& value,
                                   const Arg& attn_mask = None,
                                   const Arg& dropout_p = None,
                                   const Arg& is_causal = None,
                                   const Arg& scale = None,
                                   const Arg& enable_gqa = None);

}  // namespace nn::functional

}  // namespace fxjit
