#include "src/program/planning/parts_room.h"

#include <algorithm>
#include <numeric>

namespace fxjit::program {
namespace {

// A whole: when it has memory for itself and for its parts, those of them that
// are made first and needed last.
struct Whole {
  int64_t bytes = 0;
  Life own, all;
  RegionResult earliest, latest;
  std::pair<size_t, size_t> last_needed;  // Life of the latest, its end first.
};

using Wholes = std::map<const fx::Node*, Whole>;

Wholes wholes_of(const LiveBytes& live, const Parts& parts) {
  Wholes wholes;
  for (const auto& [result, part] : parts.all()) {
    auto [known, fresh] = wholes.try_emplace(part.whole);
    Whole& whole = known->second;
    if (fresh) {
      whole.bytes = bytes_of(part.whole->users().front()->val_tensor());
      whole.own = whole.all = live.life(*part.whole);
    }
    const Life life = live.life(*result.first);
    if (life.first < whole.all.first) whole.earliest = result;
    // Of several the one that is made last: addresses must not decide.
    if (std::pair(life.end, life.first) > whole.last_needed) {
      whole.latest = result;
      whole.last_needed = {life.end, life.first};
    }
    whole.all.first = std::min(whole.all.first, life.first);
    whole.all.end = std::max(whole.all.end, life.end);
  }
  return wholes;
}

// What is alive at each node when wholes live as long as their parts, which
// have no memory of their own.
std::vector<int64_t> bytes_with(const LiveBytes& live, const Parts& parts,
                                const Wholes& wholes) {
  std::vector<int64_t> changes(live.bytes().size() + 1);
  const auto hold = [&](size_t first, size_t end, int64_t bytes) {
    changes[first] += bytes;
    changes[end] -= bytes;
  };
  for (const auto& [node, whole] : wholes) {
    hold(whole.all.first, whole.own.first, whole.bytes);
    hold(whole.own.end, whole.all.end, whole.bytes);
  }
  for (const auto& [result, part] : parts.all()) {
    const Life life = live.life(*result.first);
    hold(life.first, life.end, -bytes_of(part.val));
  }
  std::vector<int64_t> bytes(live.bytes().size());
  std::partial_sum(changes.begin(), changes.end() - 1, bytes.begin());
  std::ranges::transform(bytes, live.bytes(), bytes.begin(), std::plus<>());
  return bytes;
}

}  // namespace

std::set<RegionResult> parts_without_room(const LiveBytes& live,
                                          const Parts& parts, bool all) {
  const Wholes wholes = wholes_of(live, parts);
  const std::vector<int64_t> bytes = bytes_with(live, parts, wholes);
  const auto over = std::ranges::find_if(
      bytes, [&](int64_t count) { return count > live.peak(); });
  if (over == bytes.end()) return {};
  const auto at = static_cast<size_t>(over - bytes.begin());
  const auto is_there = [&](const Whole& whole) {
    return (whole.all.first <= at && at < whole.own.first) ||
           (whole.own.end <= at && at < whole.all.end);
  };
  // Of several the one whose turn comes first.
  const fx::Node* found = nullptr;
  for (const auto& [node, whole] : wholes)
    if (is_there(whole) &&
        (found == nullptr || whole.own.first < wholes.at(found).own.first))
      found = node;
  if (found == nullptr) return {};
  const Whole& whole = wholes.at(found);
  if (!all) return {at < whole.own.first ? whole.earliest : whole.latest};
  std::set<RegionResult> left_out;
  for (const auto& [result, part] : parts.all())
    if (part.whole == found) left_out.insert(result);
  return left_out;
}

}  // namespace fxjit::program
