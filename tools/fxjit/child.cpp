#include "tools/fxjit/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

namespace fxjit::command {
namespace {

using Clock = std::chrono::steady_clock;

struct Pair {
  int ours = -1, theirs = -1;
};

// Sockets rather than pipes: writing to a program that ended is an error then,
// no signal.
Pair socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw ChildError(std::string("no socket: ") + std::strerror(errno));
  return {ends[0], ends[1]};
}

struct Started {
  char* const* arguments;
  int input, output, errors, report;
  pid_t parent;
};

// In the new process: calls that are safe after fork() only. Says by `report`
// why the program cannot run; running closes it.
[[noreturn]] void become(const Started& started) {
  sigset_t none;  // The parent blocks signals in its threads, the child none.
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == started.parent && dup2(started.input, 0) == 0 &&
      dup2(started.output, 1) == 1 && dup2(started.errors, 2) == 2)
    execvp(started.arguments[0], started.arguments);
  const int error = errno;
  if (write(started.report, &error, sizeof(error)) < 0) _exit(126);
  _exit(127);
}

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (line.find_first_not_of(" \t\r") != line.npos) last = line;
  return last;
}

}  // namespace

const int Child::kStop = SIGSTOP;
const int Child::kResume = SIGCONT;

Child::Child(const std::vector<std::string>& command, std::string errors)
    : errors_(std::move(errors)) {
  start(command);
}

void Child::start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const Pair input = socket_pair(), output = socket_pair(),
             report = socket_pair();
  const int errors =
      open(errors_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const Started started = {arguments.data(), input.theirs,  output.theirs,
                           errors,           report.theirs, getpid()};
  pid_ = fork();
  if (pid_ == 0) become(started);
  for (int end : {input.theirs, output.theirs, report.theirs, errors})
    if (end >= 0) close(end);
  input_ = input.ours;
  output_ = output.ours;
  int error = pid_ < 0 ? errno : 0;
  const ssize_t said = read(report.ours, &error, sizeof(error));
  close(report.ours);
  if (pid_ > 0 && said != sizeof(error)) return;
  const std::string why = std::strerror(error);
  end();
  throw ChildError(command[0] + " cannot be started: " + why);
}

Child::~Child() { end(); }

void Child::end() {
  for (int* end : {&input_, &output_})
    if (*end >= 0) close(std::exchange(*end, -1));
  if (pid_ <= 0) return;
  signal(SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

// With what it started: it has a process group of its own, unless it ended
// before it could make one.
void Child::signal(int number) const {
  if (kill(-pid_, number) != 0) kill(pid_, number);
}

void Child::say(const std::string& line) {
  const std::string text = line + "\n";
  // A program that ended is noticed by the missing answer.
  (void)!send(input_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool Child::read_more(double seconds) {
  pollfd waiting = {output_, POLLIN, 0};
  const int ready = poll(&waiting, 1, static_cast<int>(seconds * 1e3));
  if (ready <= 0) return true;
  char buffer[1 << 16];
  const ssize_t bytes = read(output_, buffer, sizeof(buffer));
  if (bytes < 0) return errno == EINTR || errno == EAGAIN;
  pending_.append(buffer, static_cast<size_t>(bytes));
  return bytes > 0;
}

std::string Child::answer(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    for (size_t stop; (stop = pending_.find('\n')) != pending_.npos;) {
      std::string line = pending_.substr(0, stop);
      pending_.erase(0, stop + 1);
      if (line.starts_with('{')) return line;
    }
    const double left =
        std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) {
      char text[64];
      std::snprintf(text, sizeof(text), "no answer within %g seconds", seconds);
      throw ChildError(text);
    }
    if (!read_more(left)) report_end();
  }
}

void Child::report_end() {
  constexpr int kTurns = 200;
  int status = 0, ended = 0;
  for (int turn = 0; turn < kTurns && ended == 0; ++turn) {
    ended = waitpid(pid_, &status, WNOHANG);
    if (ended == 0) usleep(5000);
  }
  if (ended == 0) throw ChildError("it closed its output");
  signal(SIGKILL);  // What it started.
  pid_ = -1;
  std::string why = last_line(errors_);
  if (why.empty())
    why = WIFEXITED(status)
              ? "with status " + std::to_string(WEXITSTATUS(status))
              : std::string("by signal ") + strsignal(WTERMSIG(status));
  throw ChildError("it ended: " + why);
}

}  // namespace fxjit::command
