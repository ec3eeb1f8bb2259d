#include "fxjit/error.h"

namespace fxjit {
namespace {

std::string with_place(const std::string& message,
                       const ErrorContext& context) {
  std::string place;
  if (context.source.known()) place += " at " + context.source.str();
  // Many messages name the node themselves.
  if (const std::string node = "%" + context.node;
      !context.node.empty() && message.find(node) == message.npos)
    place += " computing " + node;
  if (!context.module_path.empty()) place += " in " + context.module_path;
  return place.empty() ? message : message + "\n " + place;
}

}  // namespace

std::string SourceLocation::str() const {
  if (!known()) return "";
  return std::string(file) + ":" + std::to_string(line);
}

Error::Error(const std::string& message, ErrorContext context)
    : std::runtime_error(message),
      text_(with_place(message, context)),
      message_(message),
      context_(std::move(context)) {}

void Error::extend(const std::string& note, const ErrorContext& more) {
  message_ += note;
  if (context_.op.empty()) context_.op = more.op;
  if (context_.node.empty()) context_.node = more.node;
  if (context_.module_path.empty()) context_.module_path = more.module_path;
  if (!context_.source.known()) context_.source = more.source;
  text_ = with_place(message_, context_);
}

void Error::set_source(const SourceLocation& source) {
  if (!source.known()) return;
  context_.source = source;
  text_ = with_place(message_, context_);
}

namespace support {

void check_failed(const char* condition, const char* file, int line,
                  const std::string& detail) {
  throw InternalError("broken invariant `" + std::string(condition) + "` at " +
                      file + ":" + std::to_string(line) +
                      (detail.empty() ? "" : ": " + detail));
}

}  // namespace support
}  // namespace fxjit
