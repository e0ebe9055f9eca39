/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include "result/result.h"
#include "sys/topo.h"

/* Fills all but what the run itself finds out (clock step, arena). 0 or -ENOMEM. */
int environment_fill(struct result_environment *environment, const struct topo *topo);

#endif
