#include "jit/emit/tiles/blocked_sums.h"

namespace fxjit::jit {

Values BlockedSums::of(const Values& rows, const Values& panels,
                       const Values& zeros) {
  return for_blocks(
      rows, panels, zeros, [&](const Block& block, const Values& totals) {
        Values sums = for_rows(
            block, zeros, [&](Values& next, Value* k, const Values& numbers) {
              add(next, block, k, numbers);
            });
        const Values scales = scales_of(block);
        for (size_t i = 0; i < sums.size(); ++i)
          sums[i] = b_.fma(sums[i], scales[i % scales.size()], totals[i]);
        return sums;
      });
}

void BlockedSums::decode(Value* panel, Value* to) {
  for_blocks({}, {panel}, {}, [&](const Block& block, const Values&) {
    const Values scales = scales_of(block);
    return for_rows(block, {}, [&](Values&, Value* k, const Values& numbers) {
      Value* row = b_.mul(b_.add(block.first, k), b_.i64(width_));
      for (size_t v = 0; v < numbers.size(); ++v)
        b_.store_aligned(b_.mul(numbers[v], scales[v]),
                         b_.offset(b_.offset(to, b_.f32(), row),
                                   b_.vec(b_.f32()), static_cast<int64_t>(v)));
    });
  });
}

Values BlockedSums::for_blocks(const Values& rows, const Values& panels,
                               const Values& carried, const EachBlock& each) {
  const int64_t size = form_.blocks.size;
  Value* count =
      b_.ir().CreateUDiv(b_.add(depth_, b_.i64(size - 1)), b_.i64(size));
  return b_.loop(b_.i64(0), count, b_.i64(1), carried,
                 [&](Value* number, const Values& values) {
                   return each(block_at(rows, panels, number), values);
                 });
}

BlockedSums::Block BlockedSums::block_at(const Values& rows,
                                         const Values& panels, Value* number) {
  Block block;
  Value* size = b_.i64(form_.blocks.size);
  block.first = b_.mul(number, size);
  block.length = b_.min(b_.sub(depth_, block.first), size);
  for (Value* row : rows)
    block.rows.push_back(b_.offset(row, b_.f32(), block.first));
  Value* place = b_.mul(number, b_.i64(form_.blocks.bytes(width_)));
  for (Value* panel : panels)
    block.panels.push_back(b_.offset_bytes(panel, place));
  for (int v = 0; v < vectors_; ++v)
    block.zeros.push_back(weights_.block_zero(panel_of(block, v), in_panel(v)));
  return block;
}

// Whole words, then the codes of the last one.
Values BlockedSums::for_rows(const Block& block, const Values& carried,
                             const EachRow& each) {
  const int64_t codes = form_.blocks.word_codes();
  const auto numbers_at = [&](const Values& words, auto place) {
    Values numbers;
    for (size_t v = 0; v < words.size(); ++v)
      numbers.push_back(weights_.block_number(words[v], place, block.zeros[v]));
    return numbers;
  };
  Value* whole = b_.bit_and(block.length, b_.i64(-codes));
  const Values values =
      b_.loop(b_.i64(0), whole, b_.i64(codes), carried,
              [&](Value* k, const Values& before) {
                Values next = before;
                const Values words = words_at(block, k);
                for (int64_t i = 0; i < codes; ++i)
                  each(next, b_.add(k, b_.i64(i)), numbers_at(words, i));
                return next;
              });
  return b_.loop(whole, block.length, b_.i64(1), values,
                 [&](Value* k, const Values& before) {
                   Values next = before;
                   Value* place = b_.ir().CreateTrunc(
                       b_.bit_and(k, b_.i64(codes - 1)), b_.i32());
                   each(next, k, numbers_at(words_at(block, k), place));
                   return next;
                 });
}

// The word of each vector that has row `k` of the block.
Values BlockedSums::words_at(const Block& block, Value* k) {
  Value* word = b_.ir().CreateUDiv(k, b_.i64(form_.blocks.word_codes()));
  Values words;
  for (int v = 0; v < vectors_; ++v)
    words.push_back(
        weights_.block_words(panel_of(block, v), word, in_panel(v)));
  return words;
}

Values BlockedSums::scales_of(const Block& block) {
  Values scales;
  for (int v = 0; v < vectors_; ++v)
    scales.push_back(weights_.block_scale(panel_of(block, v), in_panel(v)));
  return scales;
}

void BlockedSums::add(Values& sums, const Block& block, Value* k,
                      const Values& numbers) {
  for (size_t r = 0; r < block.rows.size(); ++r) {
    Value* factor =
        b_.load_broadcast(DType::f32, b_.offset(block.rows[r], b_.f32(), k));
    for (size_t v = 0; v < numbers.size(); ++v) {
      Value*& sum = sums[r * numbers.size() + v];
      sum = b_.fma(factor, numbers[v], sum);
    }
  }
}

}  // namespace fxjit::jit
