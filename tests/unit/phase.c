/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of phases: names and iozone numbers, and what is refused by name. */
#include "bench/phase.h"

#include <errno.h>

#include "base/bits.h"
#include "tap.h"

static void phase_lists(void)
{
	const struct phase *list[NR_PHASES];
	struct reason why;
	size_t nr;

	ok(!phase_parse_list("reader", list, &nr, &why) && nr == 1 &&
		   list[0] == &phases[2],
	   "a name");
	ok(!phase_parse_list("0", list, &nr, &why) && nr == 2 && list[1] == &phases[1],
	   "iozone's 0: both writers");
	ok(!phase_parse_list("3,0,1,2", list, &nr, &why) && nr == 7 &&
		   list[0] == &phases[4],
	   "all four numbers: seven phases, in the order given");
	ok(!phase_parse_list("reader,1,reader", list, &nr, &why) && nr == 2, "each once");
	static const char *const malformed[] = {
		"", ",", "reader,", "writer", "Reader", "4", "00", "reader reader", "read"
	};
	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++)
		ok(phase_parse_list(malformed[i], list, &nr, &why) == -EINVAL,
		   "phases '%s': %.40s", malformed[i], why.text);
}

int main(void)
{
	phase_lists();
	return done();
}
