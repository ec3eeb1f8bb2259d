// Names of newer C libraries than Debian 12's that the emulator of tests/jit
// asks for, as a library that is loaded before it.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#if !__GLIBC_PREREQ(2, 38)
extern "C" {

unsigned long __isoc23_strtoul(const char* text, char** end, int base) {
  return strtoul(text, end, base);
}

unsigned long long __isoc23_strtoull(const char* text, char** end, int base) {
  return strtoull(text, end, base);
}

long __isoc23_strtol(const char* text, char** end, int base) {
  return strtol(text, end, base);
}

long long __isoc23_strtoll(const char* text, char** end, int base) {
  return strtoll(text, end, base);
}

int __isoc23_sscanf(const char* text, const char* format, ...) {
  va_list numbers;
  va_start(numbers, format);
  const int count = vsscanf(text, format, numbers);
  va_end(numbers);
  return count;
}

int __isoc23_fscanf(FILE* file, const char* format, ...) {
  va_list numbers;
  va_start(numbers, format);
  const int count = vfscanf(file, format, numbers);
  va_end(numbers);
  return count;
}

}  // extern "C"
#endif
