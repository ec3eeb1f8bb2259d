// The files that a page is made of: page/web/, as they were when the command
// was built.
#pragma once

#include <string_view>
#include <vector>

namespace fxjit::command {

struct PageFile {
  std::string_view name;  // "page.css"
  std::string_view text;
};

const std::vector<PageFile>& page_files();

}  // namespace fxjit::command
