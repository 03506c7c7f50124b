/* text.h - numbers and characters, without locale and without allocation.  Nothing is owned. */
#ifndef ISO_BASE_TEXT_H
#define ISO_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest output of the two functions below. */
enum { ISO_NUMBER_BYTES = 21 };
/* Write a number in decimal, not terminated; return its length. */
size_t iso_format_u64(uint64_t number, char *out);
size_t iso_format_i64(int64_t number, char *out);

/* Parse all of the text as a decimal number without sign (u64) or with an optional '-' (i64), no leading zeros.
 * Return false when it is anything else or does not fit. */
bool iso_parse_u64(const char *text, size_t length, uint64_t *number);
bool iso_parse_i64(const char *text, size_t length, int64_t *number);

/* The length of the UTF-8 sequence at the start of text (1 to 4), 0 when it is not valid or incomplete. */
size_t iso_utf8_step(const char *text, size_t length);
/* The same for a character that may reach a terminal as it is: 0 also for C0, DEL and C1. */
size_t iso_printable_step(const char *text, size_t length);
bool iso_utf8_valid(const char *text, size_t length);
/* Encodes a code point below 0x110000; returns its length. */
size_t iso_utf8_encode(uint32_t code, char out[4]);

#endif
