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

// Reductions over `dim`: an int, several ints, or None for all elements. A
// reduced dim is dropped, or has size 1 with `keepdim`. Sums and products of
// integers are int64 unless `dtype` says otherwise; any and all give bool, but
// uint8 of uint8.
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
// Without `dim` the greatest (least) element, without dims. With an int `dim` a
// tuple (values, int64 indices). With a tensor the elementwise maximum
// (minimum).
Value max(const Arg& input, const Arg& dim_or_other = None,
          const Arg& keepdim = None);
Value min(const Arg& input, const Arg& dim_or_other = None,
          const Arg& keepdim = None);
// The position, int64, of the first greatest (least) element along `dim`;
// without `dim` in the flattened tensor.
Value argmax(const Arg& input, const Arg& dim = None,
             const Arg& keepdim = None);
Value argmin(const Arg& input, const Arg& dim = None,
             const Arg& keepdim = None);
// Variance, and its root, with the divisor max(0, N - correction) for N
// elements. `correction` is 1 when None.
Value var(const Arg& input, const Arg& dim = None, const Arg& correction = None,
          const Arg& keepdim = None);
Value std(const Arg& input, const Arg& dim = None, const Arg& correction = None,
          const Arg& keepdim = None);
// log(sum(exp(input))) over `dim`, without overflow.
Value logsumexp(const Arg& input, const Arg& dim, const Arg& keepdim = None);
// The norm of order `ord` (2 when None) of the elements over `dim`.
Value linalg_vector_norm(const Arg& input, const Arg& ord = None,
                         const Arg& dim = None, const Arg& keepdim = None);
// The same with the order `p`, a number or "fro" (order 2).
Value norm(const Arg& input, const Arg& p = None, const Arg& dim = None,
           const Arg& keepdim = None);
// Running sums along `dim`, of the input's shape; integers become int64.
Value cumsum(const Arg& input, const Arg& dim);

// exp(input) divided by its sum along `dim`, and its logarithm. A row that is
// all -inf gives NaN. `dtype`: the input is cast to it first.
Value softmax(const Arg& input, const Arg& dim, const Arg& dtype = None);
Value log_softmax(const Arg& input, const Arg& dim, const Arg& dtype = None);

// Views share the storage of their input. `reshape` and `flatten` copy if no
// strides describe the new shape. In `shape` and `sizes` one size may be -1.
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
// Tuples of views along `dim`: `split` into pieces of one size (the last may be
// smaller) or of the sizes of a list, `chunk` into at most `chunks` equal
// pieces, `unbind` into the elements, without `dim`.
Value split(const Arg& tensor, const Arg& split_size_or_sections,
            const Arg& dim = None);
Value chunk(const Arg& input, const Arg& chunks, const Arg& dim = None);
Value unbind(const Arg& input, const Arg& dim = None);
// Methods of a tensor in torch, and recorded as such. `view` throws
// RuntimeError if no strides describe the new shape; `expand` repeats dims of
// size 1.
Value view(const Arg& input, const Arg& size);
Value expand(const Arg& input, const Arg& size);

// New tensors made of elements of others. `cat` joins tensors along a dim (0
// when None), `stack` along a new one; both take a list.
Value cat(const Arg& tensors, const Arg& dim = None);
Value stack(const Arg& tensors, const Arg& dim = None);
Value repeat(const Arg& input, const Arg& repeats);  // A method in torch.
Value repeat_interleave(const Arg& input, const Arg& repeats,
                        const Arg& dim = None);
Value flip(const Arg& input, const Arg& dims);
Value roll(const Arg& input, const Arg& shifts, const Arg& dims = None);
Value tril(const Arg& input, const Arg& diagonal = None);
Value triu(const Arg& input, const Arg& diagonal = None);
// Up to `item`, these run eagerly only, because the result or its size depends
// on the data. The first gives the elements where the bool tensor `mask`,
// broadcast to the input, is true: [count].
Value masked_select(const Arg& input, const Arg& mask);
// The positions of the elements that are not zero: int64 [count, rank] or, with
// `as_tuple`, a tuple of a tensor [count] for each dim.
Value nonzero(const Arg& input, const Arg& as_tuple = None);
// The distinct elements, or distinct slices along `dim`, in ascending order. A
// tuple if more is wanted: then for each element its position in the result
// (inverse), and how often each occurs (counts), both int64. Every NaN counts
// as distinct.
Value unique(const Arg& input, const Arg& return_inverse = None,
             const Arg& return_counts = None, const Arg& dim = None);
// The only element of a tensor, as a number.
Value item(const Arg& input);
// The quantiles of f32 or f64 elements along `dim`. `q` is a number from 0 to
// 1, or a tensor [quantiles] of the input's dtype whose dim becomes the first
// one of the result. `interpolation`: "linear" (when None), "lower", "higher",
// "midpoint" or "nearest".
Value quantile(const Arg& input, const Arg& q, const Arg& dim = None,
               const Arg& keepdim = None, const Arg& interpolation = None);
// Elements picked by int64 tensors. `index_select` picks slices along `dim` by
// an index [count]. `gather` and `take_along_dim` have an index for each
// element of the result: out[i][j] = input[index[i][j]][j] for dim 0. `scatter`
// puts src[i][j] to that place of a copy of the input, and `scatter_add` adds
// it there. An index outside of the dim is an error.
Value index_select(const Arg& input, const Arg& dim, const Arg& index);
Value gather(const Arg& input, const Arg& dim, const Arg& index);
Value take_along_dim(const Arg& input, const Arg& indices,
                     const Arg& dim = None);
Value scatter(const Arg& input, const Arg& dim, const Arg& index,
              const Arg& src);
Value scatter_add(const Arg& input, const Arg& dim, const Arg& index,
                  const Arg& src);
// input[indices[0], indices[1], ...] for a list of int64 or bool tensors. None
// in the list takes a whole dim.
Value index(const Arg& input, const Arg& indices);

// Products: mm is [m, k] by [k, n], bmm [b, m, k] by [b, k, n], mv [m, k] by
// [k], dot [k] by [k], outer [m] by [n]. matmul takes vectors, matrices and
// batches, whose leading dims broadcast, by NumPy's rules.
Value matmul(const Arg& input, const Arg& other);
Value mm(const Arg& input, const Arg& mat2);
Value bmm(const Arg& input, const Arg& mat2);
Value mv(const Arg& input, const Arg& vec);
Value dot(const Arg& input, const Arg& tensor);
Value outer(const Arg& input, const Arg& vec2);
// input + mat1 @ mat2, with `input` broadcast to the product.
Value addmm(const Arg& input, const Arg& mat1, const Arg& mat2);
Value baddbmm(const Arg& input, const Arg& batch1, const Arg& batch2);
// Einstein summation, "bij,bjk->bik". `operands` is a list of tensors.
Value einsum(std::string_view equation, const Arg& operands);

// New tensors. `size` is a list of ints. The dtype is float32 when `dtype` is
// None, or int64 for arange and full of ints.
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
// Normalises over the last dims, which have the sizes `normalized_shape`, as
// have `weight` and `bias`: (x - mean) / sqrt(variance + eps) * weight + bias.
Value layer_norm(const Arg& input, const Arg& normalized_shape,
                 const Arg& weight = None, const Arg& bias = None,
                 double eps = 1e-5);
// x / sqrt(mean(x^2) + eps) * weight over the last dims. `eps` None: the
// machine epsilon of the dtype in which it is computed.
Value rms_norm(const Arg& input, const Arg& normalized_shape,
               const Arg& weight = None, const Arg& eps = None);
// Normalises each channel of [N, C, ...] with the running statistics [C] or, in
// training, with those of the input; weight and bias are [C]. Training also
// updates the running statistics in place, unless they are None.
Value batch_norm(const Arg& input, const Arg& running_mean,
                 const Arg& running_var, const Arg& weight = None,
                 const Arg& bias = None, bool training = false,
                 double momentum = 0.1, double eps = 1e-5);
// Normalises [N, C, ...] over the channels of each of `num_groups` groups and
// all places; weight and bias are [C].
Value group_norm(const Arg& input, const Arg& num_groups,
                 const Arg& weight = None, const Arg& bias = None,
                 double eps = 1e-5);
// input / max(p-norm along `dim`, eps).
Value normalize(const Arg& input, double p = 2.0, const Arg& dim = 1,
                double eps = 1e-12);

// input [..., in] @ weight[out, in]^T + bias [out].
Value linear(const Arg& input, const Arg& weight, const Arg& bias = None);

// Convolutions. input: [N, C, ...] or [C, ...]; weight: [C_out, C / groups,
// ...], transposed [C, C_out / groups, ...]; bias: [C_out]. `stride`,
// `padding`, `dilation` are an int or one for each spatial dim; `padding` may
// be "same" or "valid" except for transposed ones.
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

// Pooling of [N, C, ...] or [C, ...]. Sizes are an int or one for each spatial
// dim; `stride` is the kernel size when None. With `ceil_mode` a last window
// may reach beyond the padding.
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
// Pooling of [N, C, ...] to `output_size` cells for each spatial dim; None
// keeps the size of a dim.
Value adaptive_avg_pool1d(const Arg& input, const Arg& output_size);
Value adaptive_avg_pool2d(const Arg& input, const Arg& output_size);
Value adaptive_max_pool2d(const Arg& input, const Arg& output_size);
// The first half of the input along `dim`, times the sigmoid of the second
// half.
Value glu(const Arg& input, const Arg& dim = -1);
// Resizes images [N, C, ...] to `size`, or by `scale_factor`. `mode`:
// "nearest", "nearest-exact", "linear", "bilinear" or "trilinear".
Value interpolate(const Arg& input, const Arg& size = None,
                  const Arg& scale_factor = None, const Arg& mode = "nearest",
                  const Arg& align_corners = None);

// The rows of `weight` [rows, width] that the integers of `input` name. Result:
// [..., width]. Throws IndexError for an index outside of it.
Value embedding(const Arg& input, const Arg& weight,
                const Arg& padding_idx = None);
// int64 [..., num_classes], 1 at the class that each int64 element names.
// Without `num_classes` it runs eagerly only.
Value one_hot(const Arg& tensor, const Arg& num_classes = None);
// Adds elements around the last dims. `pad` is a list of pairs (before, after),
// beginning with the last dim. `mode`: "constant" (with `value`), "reflect",
// "replicate" or "circular".
Value pad(const Arg& input, const Arg& pad, const Arg& mode = "constant",
          const Arg& value = None);

// softmax(query key^T * scale + mask) value. query: [..., heads, rows, depth];
// key and value: [..., heads, keys, depth]. A bool mask is true where a key
// counts; a row that sees no key gives zeros. `scale` is 1 / sqrt(depth) when
// None. Throws NotImplementedError for dropout when it runs.
Value scaled_dot_product_attention(const Arg& query, const Arg& key,
                                   const Arg& value,
                                   const Arg& attn_mask = None,
                                   const Arg& dropout_p = None,
                                   const Arg& is_causal = None,
                                   const Arg& scale = None,
                                   const Arg& enable_gqa = None);

}  // namespace nn::functional

}  // namespace fxjit
