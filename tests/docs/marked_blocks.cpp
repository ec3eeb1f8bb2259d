#include "tests/docs/marked_blocks.h"

#include <fstream>
#include <sstream>

namespace fxjit::testing {
namespace {

constexpr std::string_view kMark = "<!-- made: ", kFence = "```";

}  // namespace

MarkedPage::MarkedPage(const std::string& path)
    : path_(FXJIT_SOURCE_DIR "/" + path) {
  std::stringstream text;
  text << std::ifstream(path_).rdbuf();
  text_ = text.str();
}

MarkedPage::Range MarkedPage::range_of(const std::string& name) const {
  const size_t mark = text_.find(std::string(kMark) + name + " -->\n");
  if (mark == std::string::npos) return {0, 0};
  const size_t fence = text_.find(kFence, mark);
  const size_t begin = text_.find('\n', fence) + 1;
  return {begin, text_.find(kFence, begin)};
}

std::string MarkedPage::block(const std::string& name) const {
  const auto [begin, end] = range_of(name);
  return text_.substr(begin, end - begin);
}

void MarkedPage::set_block(const std::string& name, const std::string& text) {
  const auto [begin, end] = range_of(name);
  if (end > 0) text_.replace(begin, end - begin, text);
}

int MarkedPage::blocks() const {
  int count = 0;
  for (size_t at = text_.find(kMark); at != std::string::npos;
       at = text_.find(kMark, at + 1))
    ++count;
  return count;
}

void MarkedPage::save() const { std::ofstream(path_) << text_; }

}  // namespace fxjit::testing
