// Blocks of a page of docs/ that tests make: a line `<!-- made: NAME -->`, then
// a fenced block whose text a test compares, or writes, under that name.
#pragma once

#include <string>

namespace fxjit::testing {

class MarkedPage {
 public:
  // `path` from the root of the repository: "docs/architecture.md".
  explicit MarkedPage(const std::string& path);

  // The text between the fences; empty where the page has no such block.
  std::string block(const std::string& name) const;
  // Puts `text` in its place. The page must have the block.
  void set_block(const std::string& name, const std::string& text);
  // How many blocks are marked.
  int blocks() const;
  void save() const;

 private:
  struct Range {
    size_t begin, end;
  };
  Range range_of(const std::string& name) const;

  std::string path_;
  std::string text_;
};

}  // namespace fxjit::testing
