#include "tests/import/edited_archive.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/io/zip_reader.h"
#include "src/io/zip_writer.h"

namespace fxjit::testing_import {

std::string read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string write_bytes(const std::string& name, const std::string& bytes) {
  const std::string path =
      ::testing::TempDir() + std::to_string(getpid()) + "_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

EditedArchive::EditedArchive(const std::string& path) {
  const std::string bytes = read_bytes(path);
  const io::ZipReader zip(std::as_bytes(std::span(bytes)), path);
  for (const io::ZipEntry& entry : zip.entries()) {
    root_ = entry.name.substr(0, entry.name.find('/') + 1);
    entries_[entry.name.substr(root_.size())] = zip.text(entry);
  }
}

EditedArchive::~EditedArchive() {
  if (!file_.empty()) std::filesystem::remove(file_);
}

void EditedArchive::set(const std::string& name, const std::string& content) {
  entries_[name] = content;
}

void EditedArchive::remove(const std::string& name) { entries_.erase(name); }

std::vector<std::string> EditedArchive::names() const {
  std::vector<std::string> names;
  for (const auto& [name, content] : entries_) names.push_back(name);
  return names;
}

nlohmann::json& EditedArchive::json(const std::string& name) {
  const auto found = json_.find(name);
  if (found != json_.end()) return found->second;
  return json_[name] = nlohmann::json::parse(entries_.at(name));
}

void EditedArchive::set_raw(const std::string& name,
                            const std::string& content) {
  further_.emplace_back(name, content);
}

void EditedArchive::add_again(const std::string& name) {
  further_.emplace_back(root_ + name, entries_.at(name));
}

std::string EditedArchive::write() {
  for (const auto& [name, value] : json_) entries_[name] = value.dump();
  file_ = ::testing::TempDir() + std::to_string(getpid()) + "_edited.pt2";
  io::ZipWriter zip(file_);
  for (const auto& [name, content] : entries_) zip.add(root_ + name, content);
  for (const auto& [name, content] : further_) zip.add(name, content);
  zip.finish();
  return file_;
}

}  // namespace fxjit::testing_import
