#include "examples/minilm/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

namespace minilm {
namespace {

constexpr size_t kNumbersShown = 6;
constexpr size_t kBytesShown = 40;

// Text that is not UTF-8 is shown with replacement characters.
template <typename Json>
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void print(const Embedding& embedding, bool as_json) {
  if (as_json) {
    const nlohmann::ordered_json line = {{"text", embedding.text},
                                         {"tokens", embedding.tokens},
                                         {"embedding", embedding.values}};
    return write(dump(line) + "\n");
  }
  write(embedding.text);  // Whole, whatever bytes it has.
  std::printf("\n  %zu tokens  [", embedding.tokens);
  const size_t shown = std::min(kNumbersShown, embedding.values.size());
  for (size_t i = 0; i < shown; ++i)
    std::printf("%s%.6f", i ? ", " : "",
                static_cast<double>(embedding.values[i]));
  std::printf(", ...] %zu numbers\n", embedding.values.size());
}

std::string beginning_of(const std::string& text) {
  size_t end = std::min(kBytesShown, text.size());
  const auto continues = [&](size_t at) {
    return at < text.size() && (text[at] & 0xc0) == 0x80;
  };
  constexpr size_t kLongestCharacter = 4;
  for (size_t back = 1; back < kLongestCharacter && end > 0 && continues(end);
       ++back)
    --end;
  return dump(
      nlohmann::json(text.substr(0, end) + (end < text.size() ? "..." : "")));
}

void notice_truncation(const Embedding& embedding, size_t max_length) {
  if (!embedding.truncated) return;
  std::cerr << "minilm: a text was cut to " << max_length
            << " tokens: " << beginning_of(embedding.text) << "\n";
}

void check_output() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !std::ferror(stdout) && std::cout.good()) return;
  if (errno == 0) {  // It failed before; so it will again, and say why.
    std::clearerr(stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  }
  throw fxjit::RuntimeError(
      std::string("cannot write to standard output") +
      (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
}

}  // namespace minilm
