#include "report/text/certificates.h"

#include <stdio.h>
#include <string.h>

/* "s0t0", "s0t0:begin", "s0t0:commit"; returns the length. */
static size_t name_event(const isoproof_history *history, const isoproof_certificate_event *event, char *buffer,
                         size_t size) {
  size_t length = isoproof_history_txn_name(history, event->txn, buffer, size);
  if (event->kind == ISOPROOF_EVENT_TXN || length >= size) return length;
  int more = snprintf(buffer + length, size - length, ":%s", isoproof_certificate_event_kind_name(event->kind));
  return more > 0 ? length + (size_t)more : length;
}

/* The satisfied levels that a certificate proves, one by one: NULL after the last. */
static const char *next_proved(const isoproof_result *result, const iso_certificate *certificate, size_t *at) {
  while (*at < result->level_count) {
    const struct iso_level_entry *entry = &result->levels[(*at)++];
    bool proved = entry->verdict == ISOPROOF_SATISFIED && isoproof_level_implies(certificate->level, entry->info);
    if (proved) return entry->info->id;
  }
  return NULL;
}

/* ---- JSON ---- */

static void put_certificate(iso_output *out, const isoproof_result *result, const iso_certificate *certificate) {
  char name[96];
  size_t at = 0;
  iso_out_printf(out, "{\"level\":\"%s\",\"proves\":[", certificate->level->id);
  const char *level = next_proved(result, certificate, &at);
  for (size_t i = 0; level != NULL; i++, level = next_proved(result, certificate, &at)) {
    iso_out_printf(out, "%s\"%s\"", i > 0 ? "," : "", level);
  }
  iso_out_text(out, "],\"order\":[");
  for (size_t i = 0; i < certificate->count && !iso_output_failed(out); i++) {
    size_t length = name_event(result->history, &certificate->events[i], name, sizeof name);
    if (i > 0) iso_out_char(out, ',');
    iso_out_json_string(out, name, length);
  }
  iso_out_text(out, "]}");
}

void iso_put_proved_json(iso_output *out, const isoproof_result *result) {
  if (!result->has_certificates) return;
  iso_out_text(out, ",\"certificates\":[");
  for (size_t i = 0; i < result->certificates.count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_certificate(out, result, &result->certificates.items[i]);
  }
  iso_out_char(out, ']');
  if (result->uncertified != NULL) iso_out_printf(out, ",\"uncertified_reason\":\"%s\"", result->uncertified);
}

static void put_search(iso_output *out, const isoproof_result *result, size_t search) {
  isoproof_search_stat figure = {.struct_size = sizeof figure};
  bool times = false;
  iso_out_printf(out, "\"%s\":{", isoproof_result_search_at(result, search));
  for (size_t i = 0; isoproof_result_search_stat_at(result, search, i, &figure); i++) {
    const char *comma = i > 0 ? "," : "";
    if (figure.is_time) {
      iso_out_printf(out, "%s\"%s\":%.6f", times ? "," : ",\"seconds\":{", figure.name, figure.seconds);
      times = true;
    } else if (figure.known) {
      iso_out_printf(out, "%s\"%s\":%llu", comma, figure.name, (unsigned long long)figure.count);
    } else {
      iso_out_printf(out, "%s\"%s\":null", comma, figure.name);
    }
  }
  iso_out_text(out, times ? "}}" : "}");
}

void iso_put_stats_json(iso_output *out, const isoproof_result *result) {
  if (!result->has_stats) return;
  iso_out_text(out, ",\"stats\":{");
  for (size_t i = 0; isoproof_result_search_at(result, i) != NULL; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_search(out, result, i);
  }
  iso_out_char(out, '}');
}

/* ---- text ---- */

/* Events, as many on a line as fit. */
static void put_order(iso_output *out, const isoproof_history *history, const iso_certificate *certificate) {
  enum { WIDTH = 78, INDENT = 4 };
  char name[96];
  size_t column = 0;
  for (size_t i = 0; i < certificate->count && !iso_output_failed(out); i++) {
    size_t length = name_event(history, &certificate->events[i], name, sizeof name);
    if (column > 0 && column + 1 + length > WIDTH) {
      iso_out_char(out, '\n');
      column = 0;
    }
    iso_out_text(out, column == 0 ? "    " : " ");
    column += (column == 0 ? INDENT : 1) + length;
    iso_out_bytes(out, name, length);
  }
  iso_out_text(out, certificate->count > 0 ? "\n" : "    (no transaction took effect)\n");
}

static const char *nature_of(const iso_certificate *certificate) {
  if (certificate->count > 0 && certificate->events[0].kind != ISOPROOF_EVENT_TXN) {
    return "begins (which take a snapshot) and commits, one after the other";
  }
  const isoproof_level_info *serial = isoproof_level_find_in("PL-3", ISOPROOF_LEVEL_MODEL);
  bool runs = serial != NULL && isoproof_level_implies(certificate->level, serial);
  return runs ? "transactions, one after the other" : "transactions, as they commit";
}

void iso_put_proved_text(iso_output *out, const isoproof_result *result) {
  if (!result->has_certificates) return;
  for (size_t i = 0; i < result->certificates.count; i++) {
    const iso_certificate *certificate = &result->certificates.items[i];
    iso_out_printf(out, "\n  certificate of %s\n    %s:\n", certificate->level->id, nature_of(certificate));
    put_order(out, result->history, certificate);
  }
  if (result->certificates.count > 0) return;
  const char *why = result->uncertified != NULL ? result->uncertified : "no satisfied level has one";
  iso_out_printf(out, "\n  no certificate: %s\n", why);
}

void iso_put_stats_text(iso_output *out, const isoproof_result *result) {
  if (!result->has_stats) return;
  for (size_t i = 0; isoproof_result_search_at(result, i) != NULL; i++) {
    isoproof_search_stat figure = {.struct_size = sizeof figure};
    iso_out_printf(out, "\n  search for %s\n", isoproof_result_search_at(result, i));
    for (size_t k = 0; isoproof_result_search_stat_at(result, i, k, &figure); k++) {
      char label[96];
      snprintf(label, sizeof label, "%s%s%s", figure.is_time ? figure.name : "", figure.is_time ? ": " : "",
               figure.meaning);
      iso_out_printf(out, "    %-60s ", label);
      if (figure.is_time) {
        iso_out_printf(out, "%.6f s\n", figure.seconds);
      } else if (figure.known) {
        iso_out_printf(out, "%llu\n", (unsigned long long)figure.count);
      } else {
        iso_out_text(out, "not counted\n");
      }
    }
  }
  if (isoproof_result_search_at(result, 0) == NULL) iso_out_text(out, "\n  no level was searched for\n");
}
