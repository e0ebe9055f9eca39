# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of the kernel: and tmpfs: engines share. To be read after tests/tap.sh:
#
#	for who in "${users[@]}"; do
#		be "$who"			# sets by=(COMMAND...), the words that make it so
#		run with_tmpfs size=64m "${by[@]}" "$PAGEZONE" run --engine "kernel:dir=$mnt" ...
#	done
#
# What is mounted is seen by the command that it is mounted for, in a mount namespace that
# ends with it: nothing can be left behind. Directories are open to all users.

: "${tmp:?is set by tests/tap.sh}" "${status=}" "${err=}"
[ "$(getconf PAGESIZE)" = 4096 ] || skip_all 'the figures are those of pages of 4 KiB'
command -v jq >/dev/null || skip_all 'jq is not installed'
chmod 755 "$tmp"
mnt=$tmp/mnt
mkdir -m 1777 "$mnt"
json=$tmp/.out # of the last run, with -f json

# root runs everything as root and then as somebody else, a user as himself
users=(self)
drop=(setpriv --reuid=1000 --regid=1000 --clear-groups)
namespace=(unshare -Urm)
if [ "$(id -u)" -eq 0 ]; then
	users=(root)
	namespace=(unshare -m)
	if ! command -v setpriv >/dev/null; then
		diag 'setpriv is not installed: not tested as a user without privilege'
	elif ! "${drop[@]}" "$PAGEZONE" --version >/dev/null 2>&1; then
		diag 'the program cannot be run by user 1000: not tested without privilege'
	else
		users+=(unprivileged)
	fi
fi

# shellcheck disable=SC2034 # by: for the tests
be()
{
	by=()
	[ "$1" != unprivileged ] || by=("${drop[@]}")
}

# kernel_is VERSION.PATCHLEVEL: this kernel is at least that.
kernel_is()
{
	local -i major=${1%.*} minor=${1#*.}
	local release

	release=$(uname -r)
	[[ $release =~ ^([0-9]+)\.([0-9]+) ]] || return 1
	((BASH_REMATCH[1] > major || (BASH_REMATCH[1] == major && BASH_REMATCH[2] >= minor)))
}

# with_tmpfs OPTIONS COMMAND...: with a tmpfs on $mnt.
with_tmpfs()
{
	# shellcheck disable=SC2016
	"${namespace[@]}" bash -c 'mount -t tmpfs -o "mode=1777,$1" pagezone-test "$0" || exit 99
		shift; exec "$@"' "$mnt" "$@"
}

# with_image TYPE SIZE COMMAND...: with a new file system of that type on $mnt.
with_image()
{
	local image=$tmp/$1-$2

	if [ ! -e "$image" ]; then
		truncate -s "$2" "$image" && "mkfs.$1" -q "$image" || return 99
	fi
	# shellcheck disable=SC2016
	"${namespace[@]}" bash -c 'mount -t "$1" -o loop "$2" "$0" && chmod 1777 "$0" || exit 99
		shift 2; exec "$@"' "$mnt" "$1" "$image" "${@:3}"
}

# The reason why one of them cannot be had; nothing: it can.
why_no_mount()
{
	local text

	text=$(with_tmpfs size=1m true 2>&1) ||
		echo "no tmpfs can be mounted in a namespace: ${text//$'\n'/ }"
}

why_no_image()
{
	local text

	if [ "$(id -u)" -ne 0 ]; then
		echo 'only root mounts images'
	elif ! command -v "mkfs.$1" >/dev/null; then
		echo "mkfs.$1 is not installed"
	elif ! text=$(with_image "$1" "$2" true 2>&1); then
		echo "no image of $1 can be mounted: ${text//$'\n'/ }"
	fi
}

# ... why the user of "${by[@]}" has no namespace for the tmpfs engine.
why_no_tmpfs()
{
	local text flags=-m

	[ "$(id -u)" -eq 0 ] && [ ${#by[@]} -eq 0 ] || flags=-Urm
	text=$("${by[@]}" unshare "$flags" mount -t tmpfs none "$mnt" 2>&1) ||
		echo "no namespace to mount in: ${text//$'\n'/ }"
}

# ... why huge= does nothing.
why_no_huge()
{
	local enabled=/sys/kernel/mm/transparent_hugepage/shmem_enabled

	if [ ! -e "$enabled" ]; then
		echo 'this kernel has no huge pages for tmpfs'
	elif grep -q '\[deny\]' "$enabled"; then
		echo 'shmem_enabled is deny'
	fi
}

# ... why the last run, which failed, had no userfaultfd.
why_no_uffd()
{
	[ "$status" -eq 3 ] && [[ $err == *userfaultfd* ]] || return
	if ! kernel_is 6.7; then
		echo 'userfaultfd cannot do that before Linux 6.7'
	elif [ ! -e /proc/sys/vm/unprivileged_userfaultfd ]; then
		echo 'this kernel has no userfaultfd'
	elif ! grep -qx 'Seccomp:[[:space:]]*0' /proc/self/status; then
		echo 'a seccomp filter forbids userfaultfd'
	fi
}

# ... why fault-around is not of 64 KiB.
why_no_faultaround()
{
	local bytes

	# shellcheck disable=SC2016
	bytes=$("${namespace[@]}" bash -c 'file=/sys/kernel/debug/fault_around_bytes
		[ -r "$file" ] || mount -t debugfs none /sys/kernel/debug; cat "$file"' 2>/dev/null)
	[ "${bytes:-65536}" = 65536 ] || echo "fault_around_bytes is $bytes"
}

# holds EXPRESSION NAME: jq finds it true of what the last run printed.
holds()
{
	jq -e "$1" "$json" >/dev/null 2>&1 && pass "$2" && return
	fail "$2" "$(echo "not true: $1"
		jq -c '.samples[] | [.side, .phase, .threads, .bytes, (.counters |
			.faults, .minor_faults, .pmd_mapped_bytes)]' "$json" 2>&1 | head -n 40)"
}

# no_loop_left: the devices of images let go of them, in their own time.
no_loop_left()
{
	local tries

	for ((tries = 0; tries < 100; tries++)); do
		grep -qsF "$tmp/" /sys/block/loop*/loop/backing_file || break
		sleep 0.1
	done
	[ "$tries" -lt 100 ]
	is $? 0 'no loop device is left'
}
