// Ops of ai.onnx.ml that prepare features, as scikit-learn's converters write
// them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/import/onnx/ops/estimators.h"
#include "src/import/onnx/texts.h"

namespace fxjit::onnx {
namespace {

Results scaler(Call& call) {
  Value x = cast(call, call[0], DType::f32);
  if (const auto offset = call.reals("offset"))
    x = x - number_list(call, *offset, DType::f32);
  if (const auto scale = call.reals("scale"))
    x = x * number_list(call, *scale, DType::f32);
  return x;
}

// Rows whose norm is 0 stay as they are.
Results normalizer(Call& call) {
  const Value x = cast(call, call[0], DType::f32);
  const std::string norm = call.text("norm", "MAX");
  Value size;
  if (norm == "MAX")
    size = amax(x, Value::list({-1}), true);
  else if (norm == "L1")
    size = sum(abs(x), Value::list({-1}), true);
  else if (norm == "L2")
    size = sqrt(sum(x * x, Value::list({-1}), true));
  else
    call.fail("norm: \"" + norm + "\" is unknown");
  return x / where(size == 0, ones_like(size), size);
}

Results binarizer(Call& call) {
  return cast(call, call[0] > call.real("threshold", 0), call.dtype(0));
}

// Numbers that stand for missing ones are replaced, by column.
Results imputer(Call& call) {
  const DType dtype = call.dtype(0);
  const Value x = call[0];
  if (const auto numbers = call.integers("imputed_value_int64s"))
    return where(x == call.integer("replaced_value_int64", 0),
                 cast(call, integer_list(call, *numbers), dtype), x);
  const auto numbers = call.reals("imputed_value_floats");
  if (!numbers) call.fail("attribute imputed_value_floats is missing");
  const double replaced = call.real("replaced_value_float", 0);
  return where(std::isnan(replaced) ? isnan(x) : x == replaced,
               number_list(call, *numbers, dtype), x);
}

// What places_in() gives of each string of the first input.
Value places_of_texts(const Call& call,
                      const std::vector<std::string_view>& list) {
  return index_dim(integer_list(call, places_in(list, call.operand(0))), 0,
                   call[0] + 1);
}

// Categories as numbers, and the input as numbers that are compared with them.
std::pair<Value, Value> in_categories(const Call& call) {
  if (call.operand(0).texts) {
    const auto texts = call.texts("cats_strings");
    if (texts.empty()) call.fail("attribute cats_strings is missing");
    std::vector<int64_t> categories(texts.size());
    std::iota(categories.begin(), categories.end(), int64_t{0});
    return {integer_list(call, categories), places_of_texts(call, texts)};
  }
  const auto categories = call.integers("cats_int64s");
  if (!categories) call.fail("attribute cats_int64s is missing");
  return {integer_list(call, *categories), cast(call, call[0], DType::i64)};
}

Results one_hot_encoder(Call& call) {
  const auto [categories, x] = in_categories(call);
  const Value found = unsqueeze(x, -1) == categories;
  if (!call.flag("zeros", true))
    function("torch.ops.aten._assert_async.msg",
             {function("torch.all", {function("torch.any", {found, -1})}),
              "OneHotEncoder: a category is unknown"});
  return cast(call, found, DType::f32);
}

// The table of an encoder: keys in increasing order, each once, the first one
// of several; NaN last.
template <typename Key>
std::vector<size_t> in_order(const std::vector<Key>& keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto less = [&](size_t a, size_t b) {
    const bool a_is_nan = keys[a] != keys[a], b_is_nan = keys[b] != keys[b];
    return a_is_nan || b_is_nan ? b_is_nan && !a_is_nan : keys[a] < keys[b];
  };
  std::stable_sort(order.begin(), order.end(), less);
  order.erase(std::unique(order.begin(), order.end(),
                          [&](size_t a, size_t b) { return !less(a, b); }),
              order.end());
  return order;
}

template <typename T>
std::vector<T> picked(const std::vector<T>& all,
                      const std::vector<size_t>& order) {
  std::vector<T> some;
  for (const size_t i : order) some.push_back(all.at(i));
  return some;
}

// The keys of a table, in its order; integers are of 64 bits.
struct Table {
  std::vector<size_t> order;
  Value keys;
  bool has_nan = false;
};

Table table_of(const Call& call, const std::vector<int64_t>& keys) {
  Table table{in_order(keys), {}};
  table.keys = integer_list(call, picked(keys, table.order));
  return table;
}

Table table_of(const Call& call, const std::vector<double>& keys, DType dtype) {
  Table table{in_order(keys), {}};
  const auto sorted = picked(keys, table.order);
  table.has_nan = !sorted.empty() && std::isnan(sorted.back());
  table.keys = number_list(call, sorted, dtype);
  return table;
}

std::vector<double> reals_of(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::f64).contiguous();
  const double* const first = wide.data_as<double>();
  return {first, first + wide.numel()};
}

Table read_keys(const Call& call) {
  Table table;
  if (const auto keys = call.integers("keys_int64s"))
    table = table_of(call, *keys);
  else if (const auto reals = call.reals("keys_floats"))
    table = table_of(call, *reals, DType::f32);
  else if (const auto tensor = call.tensor("keys_tensor"))
    table = is_floating(tensor->dtype())
                ? table_of(call, reals_of(*tensor), tensor->dtype())
                : table_of(call, tensor->to_ints());
  else
    call.fail("keys: expected keys_int64s, keys_floats or keys_tensor");
  if (table.order.empty()) call.fail("keys: there are none");
  return table;
}

// What a LabelEncoder gives: for each key of the table, in its order, a value,
// and another for all that is no key.
struct Labels {
  Value values;
  Value otherwise;
  std::vector<std::string> texts;  // The values, where they are texts.
};

std::optional<Tensor> default_number(const Call& call) {
  const auto tensor = call.tensor("default_tensor");
  if (tensor && tensor->numel() != 1)
    call.fail("default_tensor: expected one element");
  return tensor;
}

Labels labels_of_tensor(const Call& call, const Tensor& values,
                        const std::vector<size_t>& order) {
  const std::vector<int64_t> places(order.begin(), order.end());
  const Value all = held(
      call,
      reshape(call.recorder().constant(values, "values"), Value::list({-1})));
  const auto otherwise = default_number(call);
  const bool real = is_floating(values.dtype());
  Labels labels{index_dim(all, 0, integer_list(call, places)),
                real ? Value(-0.0) : Value(-1),
                {}};
  if (otherwise)
    labels.otherwise =
        real ? Value(otherwise->item()) : Value(otherwise->to_ints().at(0));
  return labels;
}

Labels labels_of_texts(const Call& call,
                       const std::vector<std::string_view>& strings,
                       const std::string& otherwise,
                       const std::vector<size_t>& order) {
  Labels labels;
  for (const size_t i : order) labels.texts.emplace_back(strings[i]);
  labels.texts.push_back(otherwise);
  std::vector<int64_t> places(order.size());
  std::iota(places.begin(), places.end(), int64_t{0});
  labels.values = integer_list(call, places);
  labels.otherwise = static_cast<int64_t>(places.size());
  return labels;
}

Labels read_labels(const Call& call, const std::vector<size_t>& order) {
  const auto check = [&](size_t count) {
    if (order.empty() || *std::max_element(order.begin(), order.end()) >= count)
      call.fail("values: fewer than keys");
  };
  if (const auto ints = call.integers("values_int64s")) {
    check(ints->size());
    return {integer_list(call, picked(*ints, order)),
            call.integer("default_int64", -1),
            {}};
  }
  if (const auto reals = call.reals("values_floats")) {
    check(reals->size());
    return {number_list(call, picked(*reals, order), DType::f32),
            call.real("default_float", -0.0),
            {}};
  }
  if (const auto strings = call.texts("values_strings"); !strings.empty()) {
    check(strings.size());
    return labels_of_texts(call, strings,
                           call.text("default_string", "_Unused"), order);
  }
  if (const auto strings = call.tensor_texts("values_tensor")) {
    check(strings->size());
    const auto otherwise = call.tensor_texts("default_tensor");
    return labels_of_texts(call, *strings,
                           otherwise && !otherwise->empty()
                               ? std::string(otherwise->front())
                               : "_Unused",
                           order);
  }
  if (const auto tensor = call.tensor("values_tensor")) {
    check(static_cast<size_t>(tensor->numel()));
    return labels_of_tensor(call, *tensor, order);
  }
  call.fail(
      "values: expected values_int64s, values_floats, values_strings or "
      "values_tensor");
}

Results labelled(const Labels& labels, const Value& found, const Value& place) {
  const Value made =
      where(found, index_dim(labels.values, 0, place), labels.otherwise);
  if (labels.texts.empty()) return made;
  return text_tensor(made, labels.texts);
}

Results label_encoder_of_texts(Call& call) {
  auto keys = call.texts("keys_strings");
  if (keys.empty()) keys = call.tensor_texts("keys_tensor").value_or(keys);
  if (keys.empty())
    call.fail("keys: expected strings in keys_strings or keys_tensor");
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const Labels labels = read_labels(call, order);
  const Value place = places_of_texts(call, keys);
  return labelled(labels, place >= 0, clamp(place, 0));
}

Results label_encoder(Call& call) {
  if (call.operand(0).texts) return label_encoder_of_texts(call);
  const Table table = read_keys(call);
  const Labels labels = read_labels(call, table.order);
  const Value x =
      is_floating(call.dtype(0)) ? call[0] : cast(call, call[0], DType::i64);
  const auto last = static_cast<int64_t>(table.order.size()) - 1;
  const Value place =
      clamp(function("torch.searchsorted", {table.keys, x}), 0, last);
  const Value key = index_dim(table.keys, 0, place);
  Value found = key == x;
  if (table.has_nan)
    found = logical_or(found, logical_and(isnan(key), isnan(x)));
  return labelled(labels, found, place);
}

// Columns by number; of one row without dims in front, one row.
Results feature_extractor(Call& call) {
  const int rank = call.rank(0);
  const Value places =
      reshape(cast(call, call[1], DType::i64), Value::list({-1}));
  const Value x = rank == 1 ? unsqueeze(call[0], 0) : call[0];
  return index_dim(x, std::max(rank, 2) - 1, places);
}

Results feature_vectorizer(Call& call) {
  ValueList parts;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const Value x = cast(call, call[i], DType::f32);
    parts.push_back(call.rank(i) == 1 ? unsqueeze(x, 0) : x);
  }
  return cat(Value::list(std::move(parts)), 1);
}

constexpr OpRow kFeaturesOps[] = {
    {.op = "ArrayFeatureExtractor", .run = feature_extractor, .domain = kMl},
    {.op = "Binarizer", .run = binarizer, .domain = kMl},
    {.op = "FeatureVectorizer", .run = feature_vectorizer, .domain = kMl},
    {.op = "Imputer", .run = imputer, .domain = kMl},
    {.op = "LabelEncoder", .since = 2, .run = label_encoder, .domain = kMl},
    {.op = "Normalizer", .run = normalizer, .domain = kMl},
    {.op = "OneHotEncoder", .run = one_hot_encoder, .domain = kMl},
    {.op = "Scaler", .run = scaler, .domain = kMl},
};

}  // namespace

std::span<const OpRow> feature_rows() { return kFeaturesOps; }

}  // namespace fxjit::onnx
