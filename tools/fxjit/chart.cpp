// The table of `fxjit bench` as a picture: a bar for each contestant.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>

#include "src/support/disk/atomic_file.h"
#include "tools/fxjit/bench_output.h"
#include "tools/fxjit/escaped.h"

namespace fxjit::command {
namespace {

constexpr double kWidth = 760, kLabels = 150, kNumbers = 190, kRow = 30,
                 kTop = 64;
// Bars end here, in times of the fused program's; longer ones are marked.
constexpr double kLongest = 8;

std::string formatted(const char* how, double a, double b, double c = 0,
                      double d = 0) {
  char text[256];
  std::snprintf(text, sizeof(text), how, a, b, c, d);
  return text;
}

std::string text(double x, double y, const std::string& words,
                 const std::string& style = "") {
  return formatted("<text x=\"%.0f\" y=\"%.0f\" ", x, y) + style + ">" +
         escaped(words) + "</text>\n";
}

std::string box(double x, double y, double width, double height,
                const std::string& colour) {
  return formatted(
             "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" ", x,
             y, width, height) +
         "fill=\"" + colour + "\"/>\n";
}

std::string colour_of(const Row& row) {
  if (row.name == "fused") return "#1b6ac9";
  return row.own ? "#a9c7ec" : "#9aa0a6";
}

std::string time_text(double us) {
  if (us < 1e3) return formatted(us < 100 ? "%.1f us" : "%.0f us", us, 0);
  const double ms = us / 1e3;
  return formatted(ms < 9.995   ? "%.2f ms"
                   : ms < 99.95 ? "%.1f ms"
                                : "%.0f ms",
                   ms, 0);
}

struct Scale {
  double longest;  // Microseconds of a bar over the whole width.
  double fused;
};

Scale scale_of(const Measured& measured) {
  const Row* const fused = measured.fused();
  double longest = 0;
  for (const Row& row : measured.rows)
    if (row.measured()) longest = std::max(longest, row.percentile(0.5));
  const double unit = fused ? fused->percentile(0.5) : longest;
  return {std::max(std::min(longest, kLongest * unit), 1e-3), unit};
}

// As much as has its place, whole characters of UTF-8.
std::string shortened(const std::string& text) {
  constexpr size_t kMost = 90;
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// The break in a bar that is longer than the picture.
std::string cut(double x, double y, double height) {
  return formatted("<path d=\"M%.1f %.1f l8 0 l-6 %.1f l-8 0 z\" ", x - 26,
                   y - 1, height + 2) +
         "fill=\"#fff\"/>\n";
}

std::string bar(const Row& row, double y, const Scale& scale) {
  const std::string end = "text-anchor=\"end\"";
  std::string drawn =
      text(kLabels - 10, y + 15, (row.own ? "fxjit, " : "") + row.name,
           row.name == "fused" ? end + " font-weight=\"bold\"" : end);
  if (!row.measured())
    return drawn + text(kLabels, y + 15, shortened(row.error),
                        "fill=\"#b3261e\" font-size=\"11\"");
  const double us = row.percentile(0.5);
  const double width =
      std::min(us / scale.longest, 1.0) * (kWidth - kLabels - kNumbers);
  drawn += box(kLabels, y, width, kRow - 9, colour_of(row));
  if (us > scale.longest * 1.001) drawn += cut(kLabels + width, y, kRow - 9);
  return drawn + text(kLabels + width + 6, y + 15,
                      time_text(us) +
                          (row.name == "fused"
                               ? ""
                               : formatted(" (%.2fx)", us / scale.fused, 0)));
}

}  // namespace

void write_chart(const Measured& measured, const std::string& path) {
  const Scale scale = scale_of(measured);
  std::string drawn;
  double y = kTop;
  for (const Row& row : measured.rows) {
    drawn += bar(row, y, scale);
    y += kRow;
  }
  const std::string threads = std::to_string(measured.threads) +
                              (measured.threads == 1 ? " thread" : " threads");
  const std::string name =
      std::filesystem::path(measured.model).filename().string();
  const std::string picture =
      formatted(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
          "height=\"%.0f\" ",
          kWidth, y + 10) +
      "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n" +
      box(0, 0, kWidth, y + 10, "#fff") +
      text(16, 28, name, "font-size=\"16\" font-weight=\"bold\"") +
      text(16, 47, "Median time of a call, " + threads + "; less is better",
           "fill=\"#555\"") +
      drawn + "</svg>\n";
  support::AtomicFile file(path);
  file.write(std::as_bytes(std::span(picture)));
  file.commit();
}

}  // namespace fxjit::command
