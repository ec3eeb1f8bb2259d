// TfIdfVectorizer: how often short runs of integers appear.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

struct Pool {
  int64_t length = 0;           // How many items each run has.
  std::vector<int64_t> items;   // Run after run.
  std::vector<int64_t> places;  // Where the result has each run's count.
};

std::vector<Pool> read_pools(const Call& call) {
  const auto starts = call.integers("ngram_counts");
  const auto places = call.integers("ngram_indexes");
  const auto items = call.integers("pool_int64s");
  if (!starts || !places || !items)
    call.fail("ngram_counts, ngram_indexes and pool_int64s are needed");
  std::vector<Pool> pools;
  size_t place = 0;
  for (size_t i = 0; i < starts->size(); ++i) {
    Pool pool{static_cast<int64_t>(i) + 1, {}, {}};
    const auto size = static_cast<int64_t>(items->size());
    const int64_t begin = (*starts)[i];
    const int64_t end = i + 1 < starts->size() ? (*starts)[i + 1] : size;
    if (begin < 0 || end < begin || end > size ||
        (end - begin) % pool.length != 0)
      call.fail("ngram_counts: its numbers");
    pool.items.assign(items->begin() + begin, items->begin() + end);
    for (int64_t k = 0; k < (end - begin) / pool.length; ++k) {
      if (place >= places->size() || (*places)[place] < 0)
        call.fail("ngram_indexes: its numbers");
      pool.places.push_back((*places)[place++]);
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

// How often each run of a pool appears in each row, its items `step` apart.
Value counts_of(const Call& call, const Value& x, const Pool& pool,
                int64_t step, int64_t starts) {
  const auto runs = static_cast<int64_t>(pool.places.size());
  Value found;
  for (int64_t j = 0; j < pool.length; ++j) {
    const Tensor items = Tensor::empty({runs}, DType::i64);
    for (int64_t k = 0; k < runs; ++k)
      items.data_as<int64_t>()[k] =
          pool.items[static_cast<size_t>(k * pool.length + j)];
    const Value here = unsqueeze(narrow(x, 1, j * step, starts), -1) ==
                       call.recorder().constant(items);
    found = found.is_none() ? here : logical_and(found, here);
  }
  return sum(cast(call, found, DType::f32), 1);
}

Results tf_idf(Call& call) {
  const std::vector<Pool> pools = read_pools(call);
  const int64_t least = call.integer("min_gram_length");
  const int64_t most = call.integer("max_gram_length");
  const int64_t skips = call.integer("max_skip_count");
  if (skips < 0 || skips > 1024) call.fail("max_skip_count");
  const bool one_row = call.rank(0) == 1;
  const Value x =
      cast(call, one_row ? unsqueeze(call[0], 0) : call[0], DType::i64);
  const Value length = call.size(0, -1);
  if (!length.is_int()) call.fail("the length of the rows varies");
  int64_t width = 0;
  for (const Pool& pool : pools)
    for (const int64_t place : pool.places) width = std::max(width, place + 1);
  const Value rows = one_row ? Value(1) : call.size(0, 0);
  Value counts = held(call, full(Value::list({rows, width}), 0.0, DType::f32));
  for (const Pool& pool : pools) {
    if (pool.length < least || pool.length > most || pool.places.empty())
      continue;
    const Value places = call.recorder().constant(
        Tensor::from(pool.places, {static_cast<int64_t>(pool.places.size())}));
    for (int64_t step = 1; step <= skips + 1; ++step) {
      const int64_t starts = length.as_int() - (pool.length - 1) * step;
      // Single items have no distance.
      if (starts < 1 || (pool.length == 1 && step > 1)) break;
      counts =
          function("torch.index_add",
                   {counts, 1, places, counts_of(call, x, pool, step, starts)});
    }
  }
  const std::string mode = call.text("mode", "TF");
  const auto given = call.reals("weights");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    call.fail("mode: \"" + mode + "\" is unknown");
  if (mode != "TF") {
    const Tensor weights = Tensor::full({width}, 1);
    // Weights stand in the order of the runs.
    size_t order = 0;
    for (const Pool& pool : pools)
      for (const int64_t place : pool.places) {
        if (given && order < given->size())
          weights.data_as<float>()[place] = static_cast<float>((*given)[order]);
        ++order;
      }
    const Value factors = call.recorder().constant(weights);
    counts = mode == "IDF" ? cast(call, gt(counts, 0), DType::f32) * factors
                           : counts * factors;
  }
  return one_row ? squeeze(counts, 0) : counts;
}

constexpr OpRow kNgramsOps[] = {
    {.op = "TfIdfVectorizer", .since = 9, .run = tf_idf},
};

}  // namespace

std::span<const OpRow> ngram_rows() { return kNgramsOps; }

}  // namespace fxjit::onnx
