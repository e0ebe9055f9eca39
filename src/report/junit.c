/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JUnit's XML, as Jenkins, GitLab and GitHub's actions read it: testsuites, testsuite,
 * testcase, and in a testcase failure, error or skipped (the schema of the Apache Ant
 * junitreport task, as llg.cubic.org/docs/junit documents it).
 */
#include <errno.h>

#include "base/format.h"
#include "report/compare.h"
#include "report/text.h"

/* XML 1.0 has no way to write most control characters. What is not UTF-8 is no XML either. */
static void put_xml(FILE *out, const char *s)
{
	const unsigned char *c = (const unsigned char *)s;

	while (*c) {
		static const unsigned char leads[] = { 0x80, 0xe0, 0xf0, 0xf8 };
		unsigned len = 0, more = 0;
		unsigned long code;

		switch (*c) {
		case '&':
			fputs("&amp;", out);
			c++;
			continue;
		case '<':
			fputs("&lt;", out);
			c++;
			continue;
		case '>':
			fputs("&gt;", out);
			c++;
			continue;
		case '"':
			fputs("&quot;", out);
			c++;
			continue;
		case '\'':
			fputs("&apos;", out);
			c++;
			continue;
		default:
			break;
		}
		if (format_control((const char *)c)) {
			putc('?', out);
			c += format_control((const char *)c);
			continue;
		}
		if (*c < 0x80) {
			putc(*c, out);
			c++;
			continue;
		}
		for (len = 1; len < 4 && *c >= leads[len]; len++)
			;
		code = *c & (0x7fU >> len);
		while (more + 1 < len && (c[more + 1] & 0xc0) == 0x80)
			code = code << 6 | (c[++more] & 0x3f);
		/* Overlong ones, surrogates, what is beyond Unicode, and U+FFFE and U+FFFF. */
		if (*c < 0xc2 || *c > 0xf4 || more + 1 < len ||
		    (len == 3 && code < 0x800) ||
		    (len == 4 && (code < 0x10000 || code > 0x10ffff)) ||
		    (code >= 0xd800 && code < 0xe000) || code == 0xfffe ||
		    code == 0xffff) {
			putc('?', out);
			c++;
			continue;
		}
		fwrite(c, 1, len, out);
		c += len;
	}
}

static void put_outcome(const struct compared *compared, const struct outcome *outcome,
			FILE *out)
{
	static const char *const tags[] = { NULL, "failure", "skipped", "error" };
	const struct result *result = compared->comparison->result;
	const char *tag = tags[outcome->kind];

	fputs("    <testcase classname=\"pagezone.", out);
	put_xml(out, result->sides[outcome->side].name);
	putc('.', out);
	put_xml(out, result->phases[outcome->phase].name);
	fputs("\" name=\"", out);
	put_xml(out, result->phases[outcome->phase].name);
	fprintf(out, "@%u", outcome->threads);
	if (outcome->gate) {
		putc(' ', out);
		put_xml(out, outcome->gate);
	}
	if (!tag) {
		fputs("\"/>\n", out);
		return;
	}
	fprintf(out, "\">\n      <%s message=\"", tag);
	put_xml(out, outcome->text);
	fputs("\"/>\n    </testcase>\n", out);
}

int report_compared_junit(const struct compared *compared, FILE *out)
{
	const struct outcomes *outcomes = compared->outcomes;
	char counts[160];

	errno = 0;
	snprintf(counts, sizeof(counts),
		 "tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\"",
		 outcomes->nr, outcomes_count(outcomes, OUTCOME_FAILED),
		 outcomes_count(outcomes, OUTCOME_NOISY),
		 outcomes_count(outcomes, OUTCOME_MISSING));
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"pagezone\" %s>\n"
		"  <testsuite name=\"pagezone compare\" %s>\n",
		counts, counts);
	for (unsigned i = 0; i < outcomes->nr; i++)
		put_outcome(compared, &outcomes->list[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return text_finish(out);
}
