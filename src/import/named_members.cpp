#include "src/import/named_members.h"

#include <algorithm>
#include <memory>

namespace fxjit::import {

std::optional<std::pair<nn::Module*, std::string>> parent_of(
    nn::Module& root, const std::string& path) {
  nn::Module* module = &root;
  size_t start = 0;
  int depth = 0;
  for (size_t dot = path.find('.'); dot != path.npos;
       dot = path.find('.', start)) {
    const std::string name = path.substr(start, dot - start);
    if (++depth > kMaxPathDepth) return std::nullopt;
    if (!module->children().find(name))
      module->register_module(name,
                              nn::ModuleRef(std::make_shared<nn::Module>()));
    module = module->children().find(name)->get();
    start = dot + 1;
  }
  return std::pair{module, path.substr(start)};
}

std::string path_of_identifiers(std::string_view name) {
  std::string path;
  for (const char c : name) {
    const bool fits = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                      (c >= 'A' && c <= 'Z') || c == '_';
    if (fits || (c == '.' && !path.empty() && path.back() != '.'))
      path += c;
    else
      path += '_';
  }
  while (!path.empty() && path.back() == '.') path.back() = '_';
  if (std::count(path.begin(), path.end(), '.') >= kMaxPathDepth)
    std::replace(path.begin(), path.end(), '.', '_');
  return path.empty() ? "_" : path;
}

std::string identifier_of(std::string_view name) {
  std::string identifier = path_of_identifiers(name);
  std::replace(identifier.begin(), identifier.end(), '.', '_');
  return identifier;
}

}  // namespace fxjit::import
