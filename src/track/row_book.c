/* Rows of tables by their keys: a number for the history, and a name for people. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "track/plan.h"

isoproof_status iso_row_book_make(iso_row_book *book, isoproof_error *error) {
  enum { FIRST = 1024 };
  *book = (iso_row_book){.seed = iso_hash_seed(), .mask = FIRST - 1};
  book->slots = iso_alloc_zero(FIRST, sizeof *book->slots);
  if (book->slots == NULL) return iso_fail_memory(error);
  pthread_mutex_init(&book->lock, NULL);
  return ISOPROOF_OK;
}

void iso_row_book_free(iso_row_book *book) {
  if (book->slots == NULL) return;
  pthread_mutex_destroy(&book->lock);
  free(book->slots);
  iso_vec_free(&book->entries);
  iso_arena_free(&book->arena);
}

typedef ISO_VEC(char) text_buffer;

static bool put(text_buffer *out, const char *text, size_t length) {
  if (!iso_vec_reserve(out, length + 1) || out->items == NULL) return false;
  if (length > 0) memcpy(out->items + out->count, text, length);
  out->count += length;
  out->items[out->count] = '\0';
  return true;
}

/* The key so that no two keys have the same text: i7, s3:abc. */
static bool put_key(text_buffer *out, const iso_table *table, const iso_key_part *parts) {
  for (size_t i = 0; i < table->key.count; i++) {
    char number[ISO_NUMBER_BYTES + 2];
    size_t length = iso_format_i64(parts[i].is_text ? (int64_t)parts[i].length : parts[i].integer, number + 1);
    number[0] = parts[i].is_text ? 's' : 'i';
    number[length + 1] = ':';
    if (!put(out, number, length + 2)) return false;
    if (parts[i].is_text && !put(out, parts[i].text, parts[i].length)) return false;
  }
  return true;
}

/* accounts[id=7], seats[flight='LH 1',seat=3] */
static bool put_name(text_buffer *out, const iso_table *table, const iso_key_part *parts) {
  bool made = put(out, table->name, strlen(table->name)) && put(out, "[", 1);
  for (size_t i = 0; made && i < table->key.count; i++) {
    const char *column = table->columns.items[table->key.items[i]].name;
    char number[ISO_NUMBER_BYTES];
    if (i > 0) made = put(out, ",", 1);
    made =
        made && put(out, column, strlen(column)) && put(out, parts[i].is_text ? "='" : "=", parts[i].is_text ? 2 : 1);
    made = made && (parts[i].is_text ? put(out, parts[i].text, parts[i].length) && put(out, "'", 1)
                                     : put(out, number, iso_format_i64(parts[i].integer, number)));
  }
  return made && put(out, "]", 1);
}

static bool grow(iso_row_book *book) {
  size_t size = (book->mask + 1) * 2;
  uint32_t *slots = iso_alloc_zero(size, sizeof *slots);
  if (slots == NULL) return false;
  for (size_t i = 0; i < book->entries.count; i++) {
    size_t at = book->entries.items[i]->hash & (size - 1);
    while (slots[at] != 0) at = (at + 1) & (size - 1);
    slots[at] = (uint32_t)i + 1;
  }
  free(book->slots);
  book->slots = slots;
  book->mask = size - 1;
  return true;
}

static iso_row_entry *look_up(iso_row_book *book, const iso_table *table, uint64_t hash, const text_buffer *key,
                              size_t *slot) {
  for (*slot = hash & book->mask; book->slots[*slot] != 0; *slot = (*slot + 1) & book->mask) {
    iso_row_entry *entry = book->entries.items[book->slots[*slot] - 1];
    if (entry->hash == hash && entry->table == table && strlen(entry->text) == key->count && key->items != NULL &&
        memcmp(entry->text, key->items, key->count) == 0)
      return entry;
  }
  return NULL;
}

/* How many rows of a table were met whose key is not their number. */
static int64_t number_of(const iso_row_book *book, const iso_table *table, const iso_key_part *parts) {
  int64_t first = (int64_t)table->number * ISO_TRACK_RANGE;
  bool direct =
      table->key.count == 1 && !parts[0].is_text && parts[0].integer >= 0 && parts[0].integer < ISO_TRACK_DIRECT;
  if (direct) return first + parts[0].integer;
  return first + ISO_TRACK_DIRECT + (int64_t)book->entries.count;
}

static iso_row_entry *add(iso_row_book *book, const iso_table *table, uint64_t hash, const text_buffer *key,
                          const iso_key_part *parts, size_t slot) {
  text_buffer name = {NULL, 0, 0};
  iso_row_entry *made = iso_arena_alloc(&book->arena, 1, sizeof *made);
  bool ready = made != NULL && iso_vec_reserve(&book->entries, 1); // NOLINT(bugprone-sizeof-expression)
  ready = ready && put_name(&name, table, parts);
  if (ready) {
    *made = (iso_row_entry){.hash = hash, .table = table, .key = number_of(book, table, parts)};
    made->text = iso_arena_text(&book->arena, key->items, key->count);
    made->name = iso_arena_text(&book->arena, name.items, name.count);
    ready = made->text != NULL && made->name != NULL;
  }
  iso_vec_free(&name);
  if (!ready) return NULL;
  book->entries.items[book->entries.count++] = made;
  book->slots[slot] = (uint32_t)book->entries.count;
  return made;
}

isoproof_status iso_row_book_find(iso_row_book *book, const iso_table *table, const iso_key_part *parts, bool initial,
                                  int64_t *key, bool *was_initial, isoproof_error *error) {
  text_buffer text = {NULL, 0, 0};
  if (!put_key(&text, table, parts)) {
    iso_vec_free(&text);
    return iso_fail_memory(error);
  }
  uint64_t hash = iso_hash_bytes(text.items, text.count, book->seed ^ table->number);
  pthread_mutex_lock(&book->lock);
  size_t slot;
  iso_row_entry *entry = look_up(book, table, hash, &text, &slot);
  bool full = book->entries.count >= (size_t)ISO_TRACK_DIRECT;
  if (entry == NULL && !full && (2 * book->entries.count < book->mask || grow(book))) {
    (void)look_up(book, table, hash, &text, &slot);
    entry = add(book, table, hash, &text, parts, slot);
  }
  if (entry != NULL) {
    *key = entry->key;
    *was_initial = entry->initial;
    entry->initial = entry->initial || initial;
  }
  pthread_mutex_unlock(&book->lock);
  iso_vec_free(&text);
  if (entry != NULL) return ISOPROOF_OK;
  return full ? iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %lld rows are tracked", (long long)ISO_TRACK_DIRECT)
              : iso_fail_memory(error);
}

iso_jsonl_row_name *iso_tracker_names(iso_tracker *tracker, size_t first, size_t *count) {
  iso_row_book *book = &tracker->rows;
  pthread_mutex_lock(&book->lock);
  *count = first < book->entries.count ? book->entries.count - first : 0;
  iso_jsonl_row_name *made = iso_alloc(*count, sizeof *made);
  for (size_t i = 0; made != NULL && i < *count; i++) {
    made[i] = (iso_jsonl_row_name){book->entries.items[first + i]->key, book->entries.items[first + i]->name};
  }
  pthread_mutex_unlock(&book->lock);
  return made;
}
