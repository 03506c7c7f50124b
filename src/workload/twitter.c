/* twitter.c - short messages: users post, follow and read timelines, over keys table:number:column. */
#include "workload/generator.h"

enum { TIMELINE = 8 };

static void post(iso_generator_session *session) {
  uint32_t made = iso_program_update(&session->program, ISO_FIELD_USER_LAST, iso_generator_draw(session));
  iso_program_write_new(&session->program, ISO_FIELD_MESSAGE_TEXT, made);
}

/* To follow and to stop following look alike from outside: both lists change. */
static void follow(iso_generator_session *session) {
  uint64_t who = iso_random_below(&session->random, session->generator->options.keys);
  iso_program_update(&session->program, ISO_FIELD_USER_FOLLOWING, who);
  iso_program_update(&session->program, ISO_FIELD_USER_FOLLOWERS, iso_generator_draw(session));
}

static void timeline(iso_generator_session *session) {
  iso_program *program = &session->program;
  iso_program_read(program, ISO_FIELD_USER_FOLLOWING,
                   iso_random_below(&session->random, session->generator->options.keys));
  for (uint32_t i = 0; i < TIMELINE; i++) {
    uint32_t last = iso_program_read(program, ISO_FIELD_USER_LAST, iso_generator_draw(session));
    iso_program_read_seen(program, ISO_FIELD_MESSAGE_TEXT, last);
  }
}

static void profile(iso_generator_session *session) {
  uint64_t who = iso_generator_draw(session);
  iso_program_read(&session->program, ISO_FIELD_USER_FOLLOWERS, who);
  iso_program_read(&session->program, ISO_FIELD_USER_FOLLOWING, who);
  uint32_t last = iso_program_read(&session->program, ISO_FIELD_USER_LAST, who);
  iso_program_read_seen(&session->program, ISO_FIELD_MESSAGE_TEXT, last);
}

isoproof_status iso_next_twitter(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  uint32_t percent = iso_random_below(&session->random, 100);
  if (percent < 30)
    post(session);
  else if (percent < 50)
    follow(session);
  else if (percent < 80)
    timeline(session);
  else
    profile(session);
  return ISOPROOF_OK;
}
