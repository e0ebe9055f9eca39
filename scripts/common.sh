# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What scripts/demo and scripts/test share: packages, autoreconf, out-of-tree builds.
# Sourced with $top set to the source tree.
# shellcheck disable=SC2034 # the variables are for them

set -u
export LC_ALL=C
unset CC CFLAGS CPPFLAGS LDFLAGS LIBS MAKEFLAGS MAKELEVEL CONFIG_SITE

me=scripts/${0##*/}
: "${top:?is the source tree}"
builds=$top/build
jobs=$(nproc 2>/dev/null || echo 1)

build_packages=(build-essential autoconf automake pkg-config libhwloc-dev libnuma-dev
	liburcu-dev libjansson-dev libgsl-dev)

say()
{
	printf '%s: %s\n' "$me" "$*" >&2
}

# missing_packages NAME...: those that dpkg does not know as installed.
missing_packages()
{
	local name

	for name; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
			printf '%s\n' "$name"
	done
}

# need_packages NAME...: installs what is missing; fails, saying what to do, where it cannot.
need_packages()
{
	local missing as_root=()

	if ! command -v dpkg-query >/dev/null; then
		say "not a Debian system; taking these packages' contents as installed: $*"
		return 0
	fi
	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -gt 0 ] || return 0

	say "missing Debian packages: ${missing[*]}"
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null; then
			say "cannot install them: neither root nor sudo here. As root, run:"
			say "    apt-get install ${missing[*]}"
			return 1
		fi
		as_root=(sudo)
		[ -t 0 ] || as_root=(sudo -n)
	fi
	say "installing them with ${as_root[*]:+${as_root[*]} }apt-get"
	"${as_root[@]}" apt-get -q update >&2 ||
		say "apt-get update failed; trying with the package lists as they are"
	if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y --no-install-recommends install "${missing[@]}" >&2; then
		say "could not install them. As root, run:"
		say "    apt-get install ${missing[*]}"
		return 1
	fi
}

# Generates configure and Makefile.in where they are missing or out of date. Builds would
# do it too, but each on its own.
autogen()
{
	if [ -e "$top/build-aux/tap-driver.sh" ] &&
		[ "$top/configure" -nt "$top/configure.ac" ] &&
		[ "$top/Makefile.in" -nt "$top/Makefile.am" ]; then
		return 0
	fi
	say "generating configure"
	(cd "$top" && autoreconf -fi)
}

# configure_in DIR ARG...: configures there, unless just that was done before.
configure_in()
{
	local dir=$1

	shift
	if [ -e "$top/config.status" ]; then
		say "the source tree holds a build; run 'make distclean' in it first"
		return 1
	fi
	mkdir -p "$dir" || return
	if [ -e "$dir/Makefile" ] && [ "$dir/Makefile" -nt "$top/configure" ] &&
		[ "$(cat "$dir/configured-as" 2>/dev/null)" = "$top $*" ]; then
		return 0
	fi
	rm -f "$dir/configured-as"
	(cd "$dir" && "$top/configure" -q "$@" && printf '%s\n' "$top $*" >configured-as)
}

# The optimised program that is there to be used: build/demo/pagezone, with a log beside it.
build_demo()
{
	local dir=$builds/demo log=$builds/demo.log

	need_packages "${build_packages[@]}" || return
	if ! mkdir -p "$builds"; then
		say "cannot write to $builds"
		return 1
	fi
	[ -x "$dir/pagezone" ] || say "building in $dir (the log is $log)"
	if ! { autogen && configure_in "$dir" CFLAGS='-O2 -g' && make -C "$dir" -j"$jobs"; } \
		>"$log" 2>&1 </dev/null; then
		tail -n 40 "$log" >&2
		say "the build failed; see $log"
		return 1
	fi
}
