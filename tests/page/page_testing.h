// Pages and other files that `fxjit inspect` writes, as tests read them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/import/command_runner.h"

namespace fxjit::testing_page {

class Page : public testing_import::Command {
 protected:
  // Runs `fxjit inspect` with these arguments, which must succeed.
  std::string inspect(const std::string& arguments) const;
  // The same with --html; the page's data.
  nlohmann::json data_of(const std::string& arguments) const;
  std::string page() const { return file("page.html"); }
};

std::string model_file(const std::string& name);  // Of tests/import/models.
std::string text_of(const std::string& path);
nlohmann::json data_in(const std::string& page);
// Of a kernel's entry.
std::string unpacked(const std::string& base64);

}  // namespace fxjit::testing_page
