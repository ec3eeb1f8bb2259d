#include "src/program/tiles/access.h"

namespace fxjit::program {

std::vector<TileAccess> without_sizes(std::vector<TileAccess> accesses) {
  for (TileAccess& access : accesses) {
    access.batch = 0;
    access.row = access.row != 0;
  }
  return accesses;
}

std::string access_key(const std::vector<TileAccess>& accesses) {
  std::string text;
  for (const TileAccess& access : accesses)
    text += " " + std::string(dtype_name(access.dtype)) + "," +
            std::to_string(access.row) + "," + std::to_string(access.column);
  return text + ";";
}

double epilogue_bytes(const std::vector<TileAccess>& accesses, double batch,
                      double rows, double columns) {
  double bytes = 0;
  for (const TileAccess& access : accesses)
    bytes += (access.batch != 0 ? batch : 1) * (access.row != 0 ? rows : 1) *
             (access.column != 0 ? columns : 1) *
             static_cast<double>(dtype_size(access.dtype));
  return bytes;
}

std::vector<InPlacePair> epilogue_pairs(
    const std::vector<TileAccess>& extras,
    const std::vector<TileAccess>& outputs) {
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
