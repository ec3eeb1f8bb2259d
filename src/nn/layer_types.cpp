// One row per layer: what its constructor was given, and how to call it again.
#include "src/nn/layer_types.h"

#include "src/nn/layer_rows.h"

namespace fxjit::nn {
namespace {

template <typename T>
ModuleType convolution(const char* name) {
  return with_state<T>(
      name,
      [](const T& m) -> Kwargs {
        return {{"in_channels", m.in_channels},
                {"out_channels", m.out_channels},
                {"kernel_size", m.kernel_size},
                {"stride", m.stride},
                {"padding", m.padding},
                {"dilation", m.dilation},
                {"groups", m.groups},
                {"bias", m.bias.defined()},
                {"output_padding", m.output_padding}};
      },
      [](Args& a) {
        const int64_t in = a.integer("in_channels");
        const int64_t out = a.integer("out_channels");
        const Value kernel_size = tuple_of(a.dims("kernel_size"));
        return T::create(
            in, out, kernel_size,
            ConvOptions{.stride = a.value("stride"),
                        .padding = a.value("padding"),
                        .dilation = a.value("dilation"),
                        .groups = a.integer("groups"),
                        .bias = a.boolean("bias"),
                        .output_padding = a.value("output_padding")});
      },
      weight_of<T>(), bias_of<T>());
}

template <typename T>
ModuleType batch_norm(const char* name) {
  return with_state<T>(
      name,
      [](const T& m) -> Kwargs {
        return {{"num_features", m.num_features},
                {"eps", m.eps},
                {"momentum", m.momentum},
                {"affine", m.weight.defined()},
                {"track_running_stats", m.running_mean.defined()}};
      },
      [](Args& a) {
        const int64_t features = a.integer("num_features");
        const double eps = a.floating("eps");
        const double momentum = a.floating("momentum");
        const bool affine = a.boolean("affine");
        return T::create(features, eps, momentum, affine,
                         a.boolean("track_running_stats"));
      },
      weight_of<T>(), bias_of<T>(), std::pair("running_mean", &T::running_mean),
      std::pair("running_var", &T::running_var),
      std::pair("num_batches_tracked", &T::num_batches_tracked));
}

void add_activations(std::vector<ModuleType>& types) {
  types.push_back(plain<Identity>("Identity"));
  types.push_back(plain<ReLU>("ReLU"));
  types.push_back(plain<ReLU6>("ReLU6"));
  types.push_back(plain<SiLU>("SiLU"));
  types.push_back(plain<Tanh>("Tanh"));
  types.push_back(plain<Sigmoid>("Sigmoid"));
  types.push_back(plain<Hardswish>("Hardswish"));
  types.push_back(plain<Hardsigmoid>("Hardsigmoid"));
  types.push_back(plain<Mish>("Mish"));
  types.push_back(module_type<GELU>(
      "GELU",
      [](const GELU& m) -> Kwargs { return {{"approximate", m.approximate}}; },
      [](Args& a) { return GELU::create(a.string("approximate")); }));
  types.push_back(module_type<LeakyReLU>(
      "LeakyReLU",
      [](const LeakyReLU& m) -> Kwargs {
        return {{"negative_slope", m.negative_slope}};
      },
      [](Args& a) { return LeakyReLU::create(a.floating("negative_slope")); }));
  types.push_back(module_type<ELU>(
      "ELU", [](const ELU& m) -> Kwargs { return {{"alpha", m.alpha}}; },
      [](Args& a) { return ELU::create(a.floating("alpha")); }));
  types.push_back(module_type<Softmax>(
      "Softmax", [](const Softmax& m) -> Kwargs { return {{"dim", m.dim}}; },
      [](Args& a) { return Softmax::create(a.integer("dim")); }));
  types.push_back(module_type<LogSoftmax>(
      "LogSoftmax",
      [](const LogSoftmax& m) -> Kwargs { return {{"dim", m.dim}}; },
      [](Args& a) { return LogSoftmax::create(a.integer("dim")); }));
  types.push_back(module_type<Dropout>(
      "Dropout", [](const Dropout& m) -> Kwargs { return {{"p", m.p}}; },
      [](Args& a) { return Dropout::create(a.floating("p")); }));
  types.push_back(module_type<Flatten>(
      "Flatten",
      [](const Flatten& m) -> Kwargs {
        return {{"start_dim", m.start_dim}, {"end_dim", m.end_dim}};
      },
      [](Args& a) {
        const int64_t start = a.integer("start_dim");
        return Flatten::create(start, a.integer("end_dim"));
      }));
}

void add_gates(std::vector<ModuleType>& types) {
  types.push_back(module_type<GLU>(
      "GLU", [](const GLU& m) -> Kwargs { return {{"dim", m.dim}}; },
      [](Args& a) { return GLU::create(a.integer("dim")); }));
  types.push_back(module_type<Softplus>(
      "Softplus",
      [](const Softplus& m) -> Kwargs {
        return {{"beta", m.beta}, {"threshold", m.threshold}};
      },
      [](Args& a) {
        const double beta = a.floating("beta");
        return Softplus::create(beta, a.floating("threshold"));
      }));
  types.push_back(module_type<Hardtanh>(
      "Hardtanh",
      [](const Hardtanh& m) -> Kwargs {
        return {{"min_val", m.min_val}, {"max_val", m.max_val}};
      },
      [](Args& a) {
        const double least = a.floating("min_val");
        return Hardtanh::create(least, a.floating("max_val"));
      }));
}

void add_shaping(std::vector<ModuleType>& types) {
  types.push_back(module_type<MaxPool1d>(
      "MaxPool1d",
      [](const MaxPool1d& m) -> Kwargs {
        return {{"kernel_size", m.kernel_size},
                {"stride", m.stride},
                {"padding", m.padding},
                {"dilation", m.dilation},
                {"ceil_mode", m.ceil_mode}};
      },
      [](Args& a) {
        const Value kernel_size = a.value("kernel_size");
        const Value stride = a.value("stride");
        const Value padding = a.value("padding");
        const Value dilation = a.value("dilation");
        return MaxPool1d::create(kernel_size, stride, padding, dilation,
                                 a.boolean("ceil_mode"));
      }));
  types.push_back(module_type<AdaptiveAvgPool1d>(
      "AdaptiveAvgPool1d",
      [](const AdaptiveAvgPool1d& m) -> Kwargs {
        return {{"output_size", m.output_size}};
      },
      [](Args& a) {
        return AdaptiveAvgPool1d::create(a.value("output_size"));
      }));
  types.push_back(module_type<Upsample>(
      "Upsample",
      [](const Upsample& m) -> Kwargs {
        return {{"size", m.size},
                {"scale_factor", m.scale_factor},
                {"mode", m.mode},
                {"align_corners", m.align_corners}};
      },
      [](Args& a) {
        const Value size = a.value("size");
        const Value scale_factor = a.value("scale_factor");
        const std::string mode = a.string("mode");
        return Upsample::create(size, scale_factor, mode,
                                a.value("align_corners"));
      }));
  types.push_back(module_type<Unflatten>(
      "Unflatten",
      [](const Unflatten& m) -> Kwargs {
        return {{"dim", m.dim},
                {"unflattened_size", tuple_of(m.unflattened_size)}};
      },
      [](Args& a) {
        const int64_t dim = a.integer("dim");
        return Unflatten::create(dim, a.dims("unflattened_size"));
      }));
}

void add_weights(std::vector<ModuleType>& types) {
  types.push_back(with_state<Linear>(
      "Linear",
      [](const Linear& m) -> Kwargs {
        return {{"in_features", m.in_features},
                {"out_features", m.out_features},
                {"bias", m.bias.defined()}};
      },
      [](Args& a) {
        const int64_t in = a.integer("in_features");
        const int64_t out = a.integer("out_features");
        return Linear::create(in, out, a.boolean("bias"));
      },
      weight_of<Linear>(), bias_of<Linear>()));
  types.push_back(with_state<Embedding>(
      "Embedding",
      [](const Embedding& m) -> Kwargs {
        return {{"num_embeddings", m.num_embeddings},
                {"embedding_dim", m.embedding_dim},
                {"padding_idx", Value(m.padding_idx)}};
      },
      [](Args& a) {
        const int64_t rows = a.integer("num_embeddings");
        const int64_t depth = a.integer("embedding_dim");
        const Value padding = a.value("padding_idx");
        return Embedding::create(
            rows, depth,
            padding.is_none() ? std::nullopt
                              : std::optional<int64_t>(padding.as_int()));
      },
      weight_of<Embedding>()));
  types.push_back(convolution<Conv1d>("Conv1d"));
  types.push_back(convolution<Conv2d>("Conv2d"));
  types.push_back(convolution<ConvTranspose1d>("ConvTranspose1d"));
  types.push_back(convolution<ConvTranspose2d>("ConvTranspose2d"));
}

void add_norms(std::vector<ModuleType>& types) {
  types.push_back(with_state<LayerNorm>(
      "LayerNorm",
      [](const LayerNorm& m) -> Kwargs {
        return {{"normalized_shape", tuple_of(m.normalized_shape)},
                {"eps", m.eps},
                {"elementwise_affine", m.weight.defined()},
                {"bias", m.bias.defined()}};
      },
      [](Args& a) {
        const Dims shape = a.dims("normalized_shape");
        const double eps = a.floating("eps");
        const bool affine = a.boolean("elementwise_affine");
        return LayerNorm::create(shape, eps, affine, a.boolean("bias"));
      },
      weight_of<LayerNorm>(), bias_of<LayerNorm>()));
  types.push_back(with_state<RMSNorm>(
      "RMSNorm",
      [](const RMSNorm& m) -> Kwargs {
        return {{"normalized_shape", tuple_of(m.normalized_shape)},
                {"eps", Value(m.eps)},
                {"elementwise_affine", m.weight.defined()}};
      },
      [](Args& a) {
        const Dims shape = a.dims("normalized_shape");
        const Value eps = a.value("eps");
        return RMSNorm::create(shape,
                               eps.is_none()
                                   ? std::nullopt
                                   : std::optional<double>(eps.as_double()),
                               a.boolean("elementwise_affine"));
      },
      weight_of<RMSNorm>()));
  types.push_back(with_state<GroupNorm>(
      "GroupNorm",
      [](const GroupNorm& m) -> Kwargs {
        return {{"num_groups", m.num_groups},
                {"num_channels", m.num_channels},
                {"eps", m.eps},
                {"affine", m.weight.defined()}};
      },
      [](Args& a) {
        const int64_t groups = a.integer("num_groups");
        const int64_t channels = a.integer("num_channels");
        const double eps = a.floating("eps");
        return GroupNorm::create(groups, channels, eps, a.boolean("affine"));
      },
      weight_of<GroupNorm>(), bias_of<GroupNorm>()));
  types.push_back(batch_norm<BatchNorm1d>("BatchNorm1d"));
  types.push_back(batch_norm<BatchNorm2d>("BatchNorm2d"));
}

void add_pooling(std::vector<ModuleType>& types) {
  types.push_back(module_type<MaxPool2d>(
      "MaxPool2d",
      [](const MaxPool2d& m) -> Kwargs {
        return {{"kernel_size", m.kernel_size},
                {"stride", m.stride},
                {"padding", m.padding},
                {"dilation", m.dilation},
                {"ceil_mode", m.ceil_mode}};
      },
      [](Args& a) {
        const Value kernel_size = a.value("kernel_size");
        const Value stride = a.value("stride");
        const Value padding = a.value("padding");
        const Value dilation = a.value("dilation");
        return MaxPool2d::create(kernel_size, stride, padding, dilation,
                                 a.boolean("ceil_mode"));
      }));
  types.push_back(module_type<AvgPool2d>(
      "AvgPool2d",
      [](const AvgPool2d& m) -> Kwargs {
        return {{"kernel_size", m.kernel_size},
                {"stride", m.stride},
                {"padding", m.padding},
                {"ceil_mode", m.ceil_mode},
                {"count_include_pad", m.count_include_pad},
                {"divisor_override", m.divisor_override}};
      },
      [](Args& a) {
        const Value kernel_size = a.value("kernel_size");
        const Value stride = a.value("stride");
        const Value padding = a.value("padding");
        const bool ceil_mode = a.boolean("ceil_mode");
        const bool count_pad = a.boolean("count_include_pad");
        return AvgPool2d::create(kernel_size, stride, padding, ceil_mode,
                                 count_pad, a.value("divisor_override"));
      }));
  types.push_back(module_type<AdaptiveAvgPool2d>(
      "AdaptiveAvgPool2d",
      [](const AdaptiveAvgPool2d& m) -> Kwargs {
        return {{"output_size", m.output_size}};
      },
      [](Args& a) {
        return AdaptiveAvgPool2d::create(a.value("output_size"));
      }));
}

}  // namespace

std::vector<ModuleType> layer_types() {
  std::vector<ModuleType> types;
  types.push_back(module_type<Module>(
      "Module", [](const Module&) -> Kwargs { return {}; },
      [](Args&) { return ModuleRef(std::make_shared<Module>()); }));
  types.push_back(plain<Sequential>("Sequential"));
  types.push_back(plain<ModuleList>("ModuleList"));
  types.push_back(plain<ModuleDict>("ModuleDict"));
  add_activations(types);
  add_weights(types);
  add_sequence_types(types);
  add_norms(types);
  add_pooling(types);
  add_gates(types);
  add_shaping(types);
  for (ModuleType& type : types) type.transparent = true;
  return types;
}

}  // namespace fxjit::nn
