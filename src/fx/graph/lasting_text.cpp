#include "src/fx/graph/lasting_text.h"

#include <mutex>

#include "src/fx/graph/string_pool.h"

namespace fxjit::fx {

std::string_view lasting_text(std::string_view text) {
  // Never destroyed: graphs may outlive main.
  static std::mutex* const mutex = new std::mutex;
  static StringPool* const pool = new StringPool;
  std::lock_guard lock(*mutex);
  return pool->intern(text);
}

}  // namespace fxjit::fx
