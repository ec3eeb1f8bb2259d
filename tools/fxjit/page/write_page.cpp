#include "tools/fxjit/page/write_page.h"

#include <span>

#include "fxjit/error.h"
#include "src/support/disk/atomic_file.h"
#include "src/support/disk/mapped_file.h"
#include "tools/fxjit/escaped.h"
#include "tools/fxjit/page/page_files.h"

namespace fxjit::command {
namespace {

using nlohmann::json;

constexpr std::string_view kDataBegins =
    "<script id=\"data\" type=\"application/json\">";
constexpr std::string_view kDataEnds = "</script>";

std::string_view page_file(std::string_view name) {
  for (const PageFile& file : page_files())
    if (file.name == name) return file.text;
  throw InternalError("the page has no file " + std::string(name));
}

// All files with this ending, in order of their names.
std::string joined(std::string_view ending) {
  std::string text;
  for (const PageFile& file : page_files())
    if (file.name.ends_with(ending)) text += file.text;
  return text;
}

// As JSON in which no tag can begin or end.
std::string data_text(const json& data) {
  const std::string plain =
      data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

void replace(std::string& text, std::string_view place,
             const std::string& with) {
  const size_t at = text.find(place);
  FXJIT_CHECK(at != text.npos, "page.html has a place for everything");
  text.replace(at, place.size(), with);
}

}  // namespace

size_t write_page(const json& data, const std::string& title,
                  const std::string& path) {
  std::string page(page_file("page.html"));
  // From the last place to the first: what is put in is not searched.
  replace(page, "{script}", joined(".js"));
  replace(page, "{data}",
          std::string(kDataBegins) + data_text(data) + std::string(kDataEnds));
  replace(page, "{style}", joined(".css"));
  replace(page, "{title}", escaped(title));
  support::AtomicFile file(path);
  file.write(std::as_bytes(std::span(page)));
  file.commit();
  return page.size();
}

json read_page(const std::string& path) {
  const support::MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  const size_t begin = text.find(kDataBegins);
  const size_t end = begin == text.npos ? begin : text.find(kDataEnds, begin);
  json data = json::value_t::discarded;
  if (end != text.npos)
    data = json::parse(text.substr(begin + kDataBegins.size(),
                                   end - begin - kDataBegins.size()),
                       nullptr, false);
  if (data.is_discarded() || !data.is_object() || !data.contains("runs"))
    throw UserError("[inspect] " + path +
                    ": not a page that fxjit inspect --html wrote");
  return data;
}

}  // namespace fxjit::command
