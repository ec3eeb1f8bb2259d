#include "tools/fxjit/bench_output.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/fxjit/terminal.h"

namespace fxjit::command {
namespace {

using nlohmann::json;

std::string format(const char* how, double number) {
  char text[64];
  std::snprintf(text, sizeof(text), how, number);
  return text;
}

// Three digits or more: 8.42, 84.2, 842, 8421.
std::string number(double value) {
  return format(value < 9.995   ? "%.2f"
                : value < 99.95 ? "%.1f"
                                : "%.0f",
                value);
}

std::string padded(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

size_t name_width(const Measured& measured) {
  size_t width = 0;
  for (const Row& row : measured.rows) width = std::max(width, row.name.size());
  return width;
}

const Row* fastest(const Measured& measured) {
  const Row* best = nullptr;
  for (const Row& row : measured.rows)
    if (row.measured() &&
        (!best || row.percentile(0.5) < best->percentile(0.5)))
      best = &row;
  return best;
}

std::string cells(const Row& row, const Row* fused) {
  const double median = row.percentile(0.5);
  const std::string times =
      fused ? format("%.2f", median / fused->percentile(0.5)) : "";
  return padded(number(median) + " (" + number(row.percentile(0.1)) + ")", 20) +
         padded("+-" + format("%.0f", 100 * row.spread()) + "%", 8) +
         padded(times, 9) + padded(number(row.first_ms), 11) +
         padded(std::to_string(row.calls()), 8) +
         padded(format("%.1e", row.difference), 12);
}

void print_notes(const Measured& measured) {
  for (const Row& row : measured.rows)
    if (row.measured() && !row.version.empty())
      std::printf(
          "%s: %s, called from Python, %s us of an empty call taken off\n",
          row.name.c_str(), row.version.c_str(), number(row.empty_us).c_str());
}

}  // namespace

const Row* Measured::fused() const {
  for (const Row& row : rows)
    if (row.name == "fused" && row.measured()) return &row;
  return nullptr;
}

void print_table(const Measured& measured) {
  const Colours colours(stdout);
  const size_t width = name_width(measured);
  const Row* const fused = measured.fused();
  const Row* const best = fastest(measured);
  const std::string header =
      std::string(width, ' ') + padded("median (p10), us", 20) +
      padded("spread", 8) + padded("x fused", 9) + padded("first, ms", 11) +
      padded("calls", 8) + padded("difference", 12);
  std::printf("%s\n", colours.bold(header).c_str());
  for (const Row& row : measured.rows) {
    const std::string name =
        row.name + std::string(width - row.name.size(), ' ');
    std::string line = name + "    " + row.error;
    if (row.measured()) line = name + cells(row, fused);
    if (!row.measured())
      line = colours.red(line);
    else if (&row == best)
      line = colours.green(line);
    std::printf("%s\n", line.c_str());
  }
  print_notes(measured);
}

void print_json(const Measured& measured) {
  json rows = json::array();
  for (const Row& row : measured.rows) {
    json entry = {{"name", row.name}};
    if (!row.version.empty()) entry["version"] = row.version;
    if (!row.error.empty()) entry["error"] = row.error;
    if (row.measured()) {
      entry["median_us"] = row.percentile(0.5);
      entry["p10_us"] = row.percentile(0.1);
      entry["spread"] = row.spread();
      entry["empty_us"] = row.empty_us;
      entry["first_ms"] = row.first_ms;
      entry["calls"] = row.calls();
      entry["difference"] = row.difference;
    }
    rows.push_back(std::move(entry));
  }
  const json table = {{"model", measured.model},
                      {"threads", measured.threads},
                      {"rounds", measured.rounds},
                      {"rows", rows}};
  std::printf(
      "%s\n",
      table.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

}  // namespace fxjit::command
