/* rubis.c - auctions with the transactions of RUBiS, over keys table:number:column. */
#include "workload/generator.h"

enum { PAGE = 10 };

static uint64_t draw_person(iso_generator_session *session) {
  uint32_t people = session->generator->options.keys / 10;
  return iso_random_below(&session->random, people > 0 ? people : 1);
}

static void browse(iso_generator_session *session) {
  for (uint32_t i = 0; i < PAGE; i++) {
    uint64_t item = iso_generator_draw(session);
    iso_program_read(&session->program, ISO_FIELD_ITEM_DESCRIPTION, item);
    iso_program_read(&session->program, ISO_FIELD_ITEM_MAX_BID, item);
  }
}

static void view(iso_generator_session *session) {
  iso_program *program = &session->program;
  uint64_t item = iso_generator_draw(session);
  iso_program_read(program, ISO_FIELD_ITEM_DESCRIPTION, item);
  iso_program_read(program, ISO_FIELD_ITEM_QUANTITY, item);
  uint32_t last = iso_program_read(program, ISO_FIELD_ITEM_BIDS, item);
  iso_program_read_seen(program, ISO_FIELD_BID_AMOUNT, last);
  iso_program_read(program, ISO_FIELD_PERSON_RATING, draw_person(session));
}

static void bid(iso_generator_session *session) {
  iso_program *program = &session->program;
  uint64_t item = iso_generator_draw(session);
  iso_program_read(program, ISO_FIELD_ITEM_DESCRIPTION, item);
  uint32_t made = iso_program_update(program, ISO_FIELD_ITEM_BIDS, item);
  iso_program_write_new(program, ISO_FIELD_BID_AMOUNT, made);
  iso_program_update(program, ISO_FIELD_ITEM_MAX_BID, item);
}

static void buy(iso_generator_session *session) {
  iso_program_update(&session->program, ISO_FIELD_ITEM_QUANTITY, iso_generator_draw(session));
}

static void comment(iso_generator_session *session) {
  iso_program *program = &session->program;
  uint64_t person = draw_person(session);
  iso_program_update(program, ISO_FIELD_PERSON_RATING, person);
  uint32_t made = iso_program_update(program, ISO_FIELD_PERSON_COMMENT, person);
  iso_program_write_new(program, ISO_FIELD_COMMENT_TEXT, made);
}

static void read_comments(iso_generator_session *session) {
  iso_program *program = &session->program;
  uint64_t person = draw_person(session);
  iso_program_read(program, ISO_FIELD_PERSON_RATING, person);
  uint32_t last = iso_program_read(program, ISO_FIELD_PERSON_COMMENT, person);
  iso_program_read_seen(program, ISO_FIELD_COMMENT_TEXT, last);
}

static void sell(iso_generator_session *session) {
  iso_program *program = &session->program;
  uint64_t item = iso_generator_draw(session);
  iso_program_write(program, ISO_FIELD_ITEM_DESCRIPTION, item);
  iso_program_write(program, ISO_FIELD_ITEM_QUANTITY, item);
}

isoproof_status iso_next_rubis(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  static const struct {
    uint32_t below; /* percent */
    void (*plan)(iso_generator_session *session);
  } mix[] = {{25, browse}, {50, view}, {70, bid}, {78, buy}, {86, comment}, {92, read_comments}, {100, sell}};
  uint32_t percent = iso_random_below(&session->random, 100);
  size_t i = 0;
  while (percent >= mix[i].below) i++;
  mix[i].plan(session);
  return ISOPROOF_OK;
}
