#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/deny denies what it is told to, and the layer of the system gets along without
# what containers forbid: the unit tests pass with the calls denied, skipping what is
# only possible with them.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

deny=${top_builddir:?}/tests/deny
"$deny" write=EIO -- true
[ $? -ne 77 ] || skip_all 'no seccomp filters here'

# The tool itself.
run "$deny" openat:create=ENOSPC -- bash -c "cat /dev/null; : > $tmp/file"
like "$err" 'No space left on device' 'a call is denied with the error that was named'
[ ! -e "$tmp/file" ]
is $? 0 'and does nothing'
run "$deny" openat:create,fsync,mmap:shared=ENODEV -- cat "$top_srcdir/tests/tap.h"
status_is 0 'other arguments of the call are allowed'
run "$deny" renameat2=EXDEV -- true
status_is 125 'an unknown error is wrong usage'
run "$deny" unlinkat,nonsense=EIO -- true
status_is 125 'an unknown call is wrong usage'
like "$err" 'nonsense' 'and named'
run "$deny" fsync -- sh -c 'exit 7'
status_is 7 'the exit status is the command'\''s'
run "$deny" fsync -- "$tmp/nonexistent"
status_is 127 'a command that is not there'
run "$deny" mbind true
status_is 125 'the dashes are wanted'
all=$("$deny" --list | grep -vxE 'openat|read|pread64|write|close|execve|mprotect|mmap|mmap:none|mmap:anonymous' | paste -sd,)
run "$deny" "$all,$all" -- echo good
is "$out" good 'all calls at once fit the filter'

# tests LIST UNIT-TEST...: each passes with the calls of LIST denied.
tests()
{
	local list=$1 test

	shift
	for test; do
		run "$deny" "$list" -- "$top_builddir/tests/unit/$test"
		if [ "$status" -eq 0 ]; then
			pass "$test without $list"
		else
			fail "$test without $list" "$(grep -A1 '^not ok' <<<"$out")$err"
		fi
	done
}

tests sched_setaffinity topo
# ENOSYS: a thread under ASan does not survive EPERM.
tests sched_getaffinity=ENOSYS topo
tests sched_setaffinity=ENOSYS,sched_getaffinity=ENOSYS topo arena
is "$err" '' 'libnuma does not complain'
tests mbind,set_mempolicy arena numamem where
tests mbind=ENOSYS,set_mempolicy=ENOSYS,get_mempolicy=ENOSYS,move_pages=ENOSYS arena topo numamem
# Not madvise as a whole: TSan needs it.
tests madvise:hugepage,madvise:populate arena
tests madvise:populate=EINVAL arena
tests madvise:hugepage=EINVAL arena
tests unshare mount
tests unshare=ENOSYS mount
tests mount mount
tests mount=EACCES mount
tests userfaultfd uffd
tests userfaultfd=ENOSYS uffd

done_testing
