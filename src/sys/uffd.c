/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/uffd.h"
