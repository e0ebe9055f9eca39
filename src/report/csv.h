/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of comma-separated values (RFC 4180). */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include <stdio.h>

/* Quoted where it has to be; control characters, of which the end of a line is one, are '?'. */
void csv_string(FILE *out, const char *s);
/* With the comma before it; what is not known is empty. */
void csv_number(FILE *out, double value);

#endif
