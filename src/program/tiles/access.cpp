#include "src/program/tiles/access.h"

#include "src/program/steps/loop_form.h"
#include "src/support/words.h"

namespace fxjit::program {

Epilogue Epilogue::without_sizes() const {
  Epilogue made = *this;
  for (auto* accesses : {&made.extras, &made.outputs})
    for (TileAccess& access : *accesses) {
      access.batch = 0;
      access.row = access.row != 0;
    }
  return made;
}

std::string Epilogue::epilogue_key() const {
  using support::append_word;
  std::string key;
  for (const auto* accesses : {&extras, &outputs}) {
    append_word(key, std::ssize(*accesses));
    for (const TileAccess& access : *accesses) {
      append_word(key, static_cast<int64_t>(access.dtype));
      append_word(key, access.row);
      append_word(key, access.column);
    }
  }
  return key + body_key(epilogue);
}

double Epilogue::epilogue_bytes(double batch, double rows,
                                double columns) const {
  double bytes = 0;
  for (const auto* accesses : {&extras, &outputs})
    for (const TileAccess& access : *accesses)
      bytes += (access.batch != 0 ? batch : 1) * (access.row != 0 ? rows : 1) *
               (access.column != 0 ? columns : 1) *
               static_cast<double>(dtype_size(access.dtype));
  return bytes;
}

std::vector<InPlacePair> Epilogue::epilogue_pairs() const {
  constexpr size_t kFirstExtra = 2;
  std::vector<InPlacePair> pairs;
  for (size_t out = 0; out < outputs.size(); ++out)
    for (size_t i = 0; i < extras.size(); ++i)
      if (extras[i] == outputs[out] && extras[i].row != 0 &&
          extras[i].column == 1)
        pairs.push_back({kFirstExtra + i, kFirstExtra + extras.size() + out});
  return pairs;
}

}  // namespace fxjit::program
