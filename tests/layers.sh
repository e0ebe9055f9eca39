#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Includes point only downwards; every source says its licence and is part of the build.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

# Each layer with all that lie below it. bench and report do not see each other.
declare -A below=(
	[base]=''
	[sys]='base'
	[stats]='base'
	[cache]='sys base'
	[result]='stats base'
	[engine]='cache sys base'
	[report]='result stats base'
	[bench]='engine cache sys result stats base'
	[cli]='bench report engine cache sys result stats base'
)

# violations SRC LAYER: the includes of that layer that point anywhere else.
violations()
{
	local src=$1 layer=$2 file path

	[ -d "$src/$layer" ] || return 0
	while IFS=: read -r file path; do
		case " $layer ${below[$layer]} " in
		*" ${path%%/*} "*)
			[ -e "$src/$path" ] || echo "${file#"$src"/} includes $path: no such file"
			;;
		*)
			echo "${file#"$src"/} includes $path: not below $layer"
			;;
		esac
	done < <(grep -r -o -E --include='*.[ch]' '^[ 	]*#[ 	]*include[ 	]*"[^"]*"' "$src/$layer" |
		sed 's/:[^"]*"\([^"]*\)"/:\1/')
}

# includers SRC HEADER-REGEX: the files that include it.
includers()
{
	grep -r -l -E --include='*.[ch]' \
		"^[ 	]*#[ 	]*include[ 	]*[<\"]$2[>\"]" "$1" | sort
}

# without_licence TREE: the sources there whose first lines lack an SPDX tag.
without_licence()
(
	cd "$1" || exit
	find configure.ac Makefile.am .ci man scripts src tests -type f \
		-not -name '*.json' -not -name '*.csv' \
		-not -path 'tests/golden/*' -not -path 'tests/data/*' \
		-not -path 'tests/fuzz/corpus/*' 2>/dev/null | sort |
		while read -r file; do
			head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' ||
				echo "$file"
		done
)

# not_built TREE: the sources and tests that its Makefile.am does not name.
not_built()
(
	cd "$1" || exit
	find src tests -name '*.[ch]' -o -name '*.sh' | sort |
		while read -r file; do
			name=$file
			case $file in tests/*.c) name=${file%.c} ;; esac
			grep -q -E "(^|[[:space:]])(${name//./\\.}|${file//./\\.})([[:space:]]|\$)" \
				Makefile.am || echo "$file"
		done
)

# The checks themselves, on a tree with one fault of each kind.
mkdir -p "$tmp/src/"{base,cache,engine,report,bench,cli}
touch "$tmp/src/engine/engine.h" "$tmp/src/base/list.h" "$tmp/src/bench/team.h"
printf '#include <stdio.h>\n#include "base/list.h"\n' >"$tmp/src/cache/good.c"
is "$(violations "$tmp/src" cache)" '' 'an include that points downwards is let through'
printf ' # include "engine/engine.h"\n' >"$tmp/src/cache/up.c"
is "$(violations "$tmp/src" cache)" 'cache/up.c includes engine/engine.h: not below cache' \
	'an include that points upwards is found'
printf '#include "bench/team.h"\n' >"$tmp/src/report/table.c"
is "$(violations "$tmp/src" report)" 'report/table.c includes bench/team.h: not below report' \
	'report including bench is found'
printf '#include "list.h"\n' >"$tmp/src/base/list.c"
is "$(violations "$tmp/src" base)" 'base/list.c includes list.h: not below base' \
	'an include that does not name its layer is found'
printf '#include "base/gone.h"\n' >"$tmp/src/cli/main.c"
is "$(violations "$tmp/src" cli)" 'cli/main.c includes base/gone.h: no such file' \
	'an include of nothing is found'
printf '#include <hwloc/linux.h>\n' >"$tmp/src/cli/hw.c"
is "$(includers "$tmp/src" 'hwloc(/[a-z-]+)?\.h')" "$tmp/src/cli/hw.c" \
	'an include of hwloc is found'
printf '/* SPDX-License-Identifier: GPL-2.0-or-later */\n' >"$tmp/src/bench/team.h"
is "$(without_licence "$tmp" | grep -E 'list\.h|team\.h')" src/base/list.h \
	'of two sources, the one without a licence is found'
mkdir -p "$tmp/tests/unit"
touch "$tmp/tests/unit/"{built,forgotten}.c
printf 'check_PROGRAMS += tests/unit/built\n' >"$tmp/Makefile.am"
is "$(not_built "$tmp" | grep unit)" tests/unit/forgotten.c 'a test that is not built is found'

# The project.
src=$top_srcdir/src
for layer in base sys stats cache result engine report bench cli; do
	is "$(violations "$src" "$layer")" '' "$layer includes only what lies below it"
done
is "$(find "$src" -name '*.[ch]' -printf '%P\n' | cut -d/ -f1 | sort -u |
	while read -r layer; do [ -n "${below[$layer]+x}" ] || echo "$layer"; done)" '' \
	'every source lies in a layer'
for library in 'hwloc(/[a-z-]+)?' 'numa(if)?'; do
	mapfile -t files < <(includers "$src" "$library\\.h")
	is "$((${#files[@]} <= 1))" 1 "one file includes ${library%%(*}: ${files[*]#"$src"/}"
done
is "$(without_licence "$top_srcdir")" '' 'every source names its licence'
is "$(not_built "$top_srcdir")" '' 'every source and test is in Makefile.am'

done_testing
