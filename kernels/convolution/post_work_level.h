// The part of post_work.cpp above its loops, included once per CPU level.

inline void run_places(const PostWork& work, float* data, int64_t places,
                       int64_t channels) {
  const int64_t done = wide::run(work, data, places, 0, channels);
  single::run(work, data, places, done, channels);
}
