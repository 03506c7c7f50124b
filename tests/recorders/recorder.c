/* Records histories with the single-header recorder: recorder.c is compiled as C and as C++, and its file is judged.
 *
 *     recorder FILE          by four threads, as a store with one lock sees them
 *     recorder --full FILE   with hardly any room: ends with 7 when a line does not fit
 */
#define ISOPROOF_RECORDER_IMPLEMENTATION
#include "recorder/isoproof_recorder.h"

#include <signal.h>
#include <sys/resource.h>

enum { THREADS = 4, TXNS = 100, KEYS = 3 };

typedef struct {
  isoproof_recorder *recorder;
  pthread_mutex_t lock;
  int64_t value[KEYS];
} store;

static void *work(void *user) {
  static const char *const keys[KEYS] = {"x", "\"y\"\\\n", "z"};
  store *s = (store *)user;
  int session = isoproof_recorder_session(s->recorder);
  for (int i = 0; i < TXNS; i++) {
    int key = i % KEYS;
    isoproof_record *t = isoproof_record_begin(s->recorder, session);
    if (t == NULL) return user;
    pthread_mutex_lock(&s->lock);
    if (s->value[key] == 0)
      isoproof_record_read_nothing(t, keys[key]);
    else
      isoproof_record_read(t, keys[key], s->value[key]);
    int64_t value = isoproof_recorder_unique(s->recorder);
    isoproof_record_write(t, keys[key], value);
    bool aborts = i % 10 == 9;
    if (!aborts) s->value[key] = value;
    pthread_mutex_unlock(&s->lock);
    if (isoproof_record_end(t, aborts ? ISOPROOF_RECORD_ABORTED : ISOPROOF_RECORD_COMMITTED, aborts ? "40001" : NULL))
      return user;
  }
  return NULL;
}

/* A transaction with everything that the threads do not do. */
static int record_rest(isoproof_recorder *recorder) {
  static const int64_t elements[2] = {1, 2};
  isoproof_record *t = isoproof_record_begin(recorder, isoproof_recorder_session(recorder));
  if (t == NULL) return -1;
  isoproof_record_read_not_known(t, "q");
  isoproof_record_write_text(t, "t", "a \"text\"");
  isoproof_record_read_text(t, "t", "a \"text\"");
  isoproof_record_append(t, "l", 1);
  isoproof_record_append(t, "l", 2);
  isoproof_record_read_list(t, "l", elements, 2);
  return isoproof_record_end(t, ISOPROOF_RECORD_UNKNOWN, "timeout");
}

static int fill(const char *path) {
  struct rlimit small = {1000, 1000};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  isoproof_recorder *recorder = isoproof_recorder_open(path, NULL);
  if (recorder == NULL) return 1;
  for (;;) {
    isoproof_record *t = isoproof_record_begin(recorder, 0);
    if (t == NULL) return 1;
    isoproof_record_write(t, "a rather long key, so that a line does not fit", isoproof_recorder_unique(recorder));
    if (isoproof_record_end(t, ISOPROOF_RECORD_COMMITTED, NULL) != 0) break;
  }
  isoproof_recorder_close(recorder);
  return 7;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--full") == 0) return fill(argv[2]);
  if (argc != 2) return 2;
  store s;
  memset(&s, 0, sizeof s);
  pthread_mutex_init(&s.lock, NULL);
  s.recorder = isoproof_recorder_open(argv[1], "\"database\":\"a store\"");
  if (s.recorder == NULL) return 1;
  if (isoproof_recorder_open(argv[1], NULL) != NULL || errno != EEXIST) return 3;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work, &s) != 0) return 4;
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    if (failed != NULL) return 5;
  }
  return record_rest(s.recorder) != 0 || isoproof_recorder_close(s.recorder) != 0 ? 6 : 0;
}
