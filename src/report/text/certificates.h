/* certificates.h - certificates and figures about the search, for people and for programs.  Owns nothing. */
#ifndef ISO_REPORT_TEXT_CERTIFICATES_H
#define ISO_REPORT_TEXT_CERTIFICATES_H

#include "base/output.h"
#include "result/result.h"

/* ,"certificates":[...] and ,"stats":{...}, where they were asked for. */
void iso_put_proved_json(iso_output *out, const isoproof_result *result);
void iso_put_stats_json(iso_output *out, const isoproof_result *result);

/* Paragraphs, where they were asked for. */
void iso_put_proved_text(iso_output *out, const isoproof_result *result);
void iso_put_stats_text(iso_output *out, const isoproof_result *result);

#endif
