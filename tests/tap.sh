# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test Anything Protocol for shell tests:
#
#	# shellcheck source=tests/tap.sh
#	. "${top_srcdir:?}/tests/tap.sh"
#	run "$PAGEZONE" topology -t 4		# sets $status, $out, $err
#	status_is 0 'topology succeeds'
#	like "$out" 'worker' 'and names the workers'
#	done_testing
#
# $PAGEZONE is the program, $tmp a directory of the test's own that vanishes at
# the end, $top_srcdir and $top_builddir are absolute. LC_ALL is C.

set -u
export LC_ALL=C
: "${PAGEZONE:?names the program under test}" "${top_srcdir:?is the source tree}"

tap_run=0
tap_failed=0
tap_done=
tmp=$(mktemp -d "${TMPDIR:-/tmp}/pagezone-test.XXXXXX") || exit 99

tap_exit()
{
	local rc=$?

	cd / && rm -rf "$tmp"
	if [ -z "$tap_done" ] && [ "$rc" -ne 99 ]; then
		printf 'Bail out! the test ended before done_testing (status %d)\n' "$rc"
		exit 99
	fi
}
trap tap_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# pass NAME, fail NAME [DIAGNOSIS]: one test point.
pass()
{
	tap_run=$((tap_run + 1))
	printf 'ok %d - %s\n' "$tap_run" "$1"
}

fail()
{
	tap_run=$((tap_run + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_run" "$1"
	[ $# -lt 2 ] || diag "$2"
	return 1
}

# skip WHY [NR]: test points that cannot be run here.
skip()
{
	local i

	for ((i = 0; i < ${2:-1}; i++)); do
		tap_run=$((tap_run + 1))
		printf 'ok %d # SKIP %s\n' "$tap_run" "$1"
	done
}

# skip_all WHY: the whole test cannot be run here.
skip_all()
{
	tap_done=1
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

# Whether the program is built with a sanitizer, which maps memory, makes system calls and reads
# /proc by itself.
sanitized()
{
	[[ $("$PAGEZONE" --version; nm -D "$PAGEZONE" 2>/dev/null) == *san_* ]]
}

# slow_test: not again where it ran already, as in the later builds of scripts/test.
slow_test()
{
	[ -z "${PAGEZONE_SKIP_SLOW:-}" ] || skip_all 'slow, and done by an earlier build'
}

bail()
{
	printf 'Bail out! %s\n' "$*"
	exit 99
}

# ok NAME COMMAND...: the command succeeds.
ok()
{
	local name=$1 text

	shift
	if text=$("$@" 2>&1); then
		pass "$name"
	else
		fail "$name" "failed: $*"$'\n'"$text"
	fi
}

# holds EXPRESSION NAME: jq finds it true of the result in $tmp/r.json.
holds()
{
	ok "$2" jq -e "$1" "$tmp/r.json"
}

# is GOT WANTED NAME
is()
{
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3" "     got: $1"$'\n'"expected: $2"
	fi
}

# like GOT REGEX NAME, unlike GOT REGEX NAME (bash regular expressions)
like()
{
	if [[ $1 =~ $2 ]]; then
		pass "$3"
	else
		fail "$3" "not matched by: $2"$'\n'"$1"
	fi
}

unlike()
{
	if [[ $1 =~ $2 ]]; then
		fail "$3" "matched by: $2"$'\n'"$1"
	else
		pass "$3"
	fi
}

# run COMMAND...: sets $status, $out (stdout) and $err (stderr).
# shellcheck disable=SC2034 # for the tests
run()
{
	"$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null
	status=$?
	out=$(cat "$tmp/.out")
	err=$(cat "$tmp/.err")
}

# status_is WANTED NAME: of the last run.
status_is()
{
	if [ "$status" -eq "$1" ]; then
		pass "$2"
	else
		fail "$2" "status $status, expected $1"$'\n'"$err"
	fi
}

# refuses WHAT ARGUMENT...: wrong usage of pagezone, and WHAT in the one line that says so. It has
# $refuse_seconds for that.
refuse_seconds=20
refuses()
{
	local what=$1

	shift
	run timeout "$refuse_seconds" "$PAGEZONE" "$@"
	status_is 2 "status 2: $*"
	is "$out" '' 'nothing on standard output'
	is "$(wc -l <"$tmp/.err")" 1 'one line on standard error'
	case $err in
	*"$what"*) pass "that names '$what'" ;;
	*) fail "that names '$what'" "$err" ;;
	esac
}

done_testing()
{
	tap_done=1
	printf '1..%d\n' "$tap_run"
	exit $((tap_failed > 0))
}
