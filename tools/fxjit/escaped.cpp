#include "tools/fxjit/escaped.h"

namespace fxjit::command {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20)
      safe += ' ';
    else
      safe += c;
  }
  return safe;
}

}  // namespace fxjit::command
