// Pages: one HTML file with everything in it, which needs no network.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fxjit::command {

// Writes the page whole or not at all. Returns its bytes. UserError where it
// cannot be written.
size_t write_page(const nlohmann::json& data, const std::string& title,
                  const std::string& path);

// The data of a page that write_page wrote. UserError for other files.
nlohmann::json read_page(const std::string& path);

}  // namespace fxjit::command
