#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Can the tests of the page cache fail? Puts deliberate faults into a copy of it, one at a time, builds
# the test that should catch each and runs it. Prints a table of faults and of the tests that
# caught them; returns 1 when one survives. Not a part of `make check`; takes some minutes:
#	tests/mutations.sh [PATTERN]	only the faults that match, an extended regular expression

# Substitutions are perl's: $1 is theirs.
# shellcheck disable=SC2016

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit
pattern=${1:-.}
jobs=$(nproc 2>/dev/null || echo 1)
copy=$(mktemp -d) || exit
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
run=()
! setarch -R true 2>/dev/null || run=(setarch -R)
survived=0 caught=0

# caught_by TEST: the first line of what it says about it.
caught_by()
{
	local log=$copy/test.log rc what

	# In a shell of its own, which keeps to itself what a crash makes it say.
	(
		timeout -k 5 30 "${run[@]}" "$copy/build/tests/unit/$1" >"$log" 2>&1
		exit $?
	) 2>/dev/null
	rc=$?
	[ $rc -ne 0 ] || return 1
	what=$(sed -n 's/^not ok [0-9]* - //p' "$log" | head -n 1)
	case $rc in
	124 | 137 | 142) what=${what:-it does not end} ;;
	esac
	printf '%-62s %-20s %s\n' "$name" "$1" "${what:-it crashes, status $rc}"
}

# fault NAME FILE SUBSTITUTION TEST...: SUBSTITUTION is perl's, on the whole file as one line of text.
fault()
{
	local name=$1 file=$copy/src/src/cache/$2 substitution=$3 test

	[[ $name =~ $pattern ]] || return 0
	shift 3
	cp -p "$file" "$copy/original"
	perl -0pi -e "$substitution" "$file"
	if cmp -s "$file" "$copy/original"; then
		printf '%-62s the substitution matches nothing any more\n' "$name"
		survived=$((survived + 1))
		return
	fi
	if ! make -s -C "$copy/build" -j"$jobs" "${@/#/tests/unit/}" >"$copy/make.log" 2>&1; then
		printf '%-62s does not compile: %s\n' "$name" "$(grep -m 1 error: "$copy/make.log")"
		survived=$((survived + 1))
	else
		for test in "$@"; do
			if caught_by "$test"; then
				caught=$((caught + 1))
				test=
				break
			fi
		done
		if [ -n "$test" ]; then
			printf '%-62s SURVIVED %s\n' "$name" "$*"
			survived=$((survived + 1))
		fi
	fi
	cp "$copy/original" "$file" # newer than what was built
}

mkdir "$copy/src" "$copy/build" || exit
(cd "$top" && tar cf - --exclude=./build --exclude=./.git .) | tar xf - -C "$copy/src" || exit
tests=(truncate truncate_race truncate_race-points fault fault_race tree fsx fsx-points)
if ! { [ -e "$copy/src/configure" ] || (cd "$copy/src" && autoreconf -fi); } >"$copy/make.log" 2>&1 ||
	! (cd "$copy/build" && "$copy/src/configure" -q CFLAGS='-O1 -g') >>"$copy/make.log" 2>&1 ||
	! make -s -C "$copy/build" -j"$jobs" "${tests[@]/#/tests/unit/}" >>"$copy/make.log" 2>&1; then
	tail -n 20 "$copy/make.log"
	exit 1
fi
for test in "${tests[@]}"; do
	name='(none)'
	if caught_by "$test"; then
		echo "$test fails without a fault"
		exit 1
	fi
done
printf '%-62s %-20s %s\n' FAULT 'CAUGHT BY' 'WHICH SAYS'

fault 'a lost reference: unmapping by truncation does not put' vma.c \
	's/\n\t\tfolio_put_refs\(folio, nr, thread\);//' truncate
fault 'a lost reference: pages around that are mapped already' fault.c \
	's/(\(entry & need\) == need\) \{\n)\t\t\tfolio_put\(folio, thread\);\n/$1/' fault
fault 'a mapcount that truncation does not lower' vma.c \
	's/\n\t\tatomic_fetch_sub_explicit\(&folio->mapcount, nr, memory_order_relaxed\);//' truncate
fault 'off by one at the end of the file: a byte too many' fault.c \
	's/mapping_size\(vma->mapping\)\);\n/mapping_size(vma->mapping) + 1);\n/' truncate
fault 'off by one at the start of a range: a page stays' truncate.c \
	's/index >= t->start && index < t->end/index > t->start \&\& index < t->end/' truncate
fault 'off by one at the end of a range: a page too many' truncate.c \
	's/-1UL : t\.to >> PAGE_SHIFT;/-1UL : (t.to >> PAGE_SHIFT) + 1;/' truncate
fault 'no second look after a lookup took its reference' mapping.c \
	's/same = tree_load\(&mapping->tree, index\) == folio;/same = true;/' fault_race
fault 'no second look after a fault got the folio lock' fault.c \
	's/likely\(folio_holds\(folio, fault->mapping, fault->index\)\)/true/' fault_race
fault 'no second look after truncation got the folio lock' truncate.c \
	's/return folio_mapping\(folio\) == t->mapping && /return /' fault_race
fault 'no second look at the size after an insertion' fault.c \
	's/if \(unlikely\(end < fault->end\)\)/if (!fault)/' truncate_race
fault 'a fault that withdraws a page too few' fault.c \
	's/folio_index\(thread->made\[nr - 1\]\) >= end/folio_index(thread->made[nr - 1]) > end/' \
	truncate_race
fault 'new pages are not zeroed' fault.c \
	's/\n\tfolio_zero\(folio, near\);//' truncate
fault 'the rest of a page that is cut is not zeroed' truncate.c \
	's/\n\tfolio_zero_range\(folio, from, to\);//' truncate
fault 'mapped pages are truncated without being unmapped' truncate.c \
	's/\n\t\ttruncate_unmap\(t, folios\[i\]\);/;/' truncate
fault 'insertion without the dirty mark' fault.c \
	's/fault->write \? 1U << TREE_MARK_DIRTY : 0/0/' truncate
fault 'deletion leaves the marks' tree.c \
	's/if \(node_is_marked\(node, start, mark\)\)\n\t\t\tnode_unmark\(node, start, mark\)/;/' tree
fault 'an LRU entry is lost' fault.c \
	's/\n\t\tlru_add\(folio, thread\);/\n\t\tfolio_put(folio, thread);/' truncate
fault 'a truncated folio stays on its LRU list' truncate.c \
	's/\n\tlru_del_batch\(folios, nr_free, t->thread\);//' truncate
fault 'a batch skips the waiting pass' truncate.c \
	's/for \(unsigned i = 0; i < nr_busy; i\+\+\)/for (unsigned i = nr_busy; i < nr_busy; i++)/' \
	truncate_race
fault 'a batch waits for locks in its first pass' truncate.c \
	's/if \(!folio_trylock\(folio\)\) \{/folio_lock(folio);\n\t\tif (!folio) {/' truncate_race
fault 'frames are freed before the grace period' truncate.c \
	's/\n\tcache_rcu_synchronize\(\);\n\ttruncate_put/\n\ttruncate_put/' truncate_race
fault 'the tail of the file is zeroed before the grace period' truncate.c \
	's/\n\t\tcache_rcu_synchronize\(\);\n\tfolio_zero/\n\t\t;\n\tfolio_zero/' truncate_race
fault 'unlock order: a folio is unlocked before it leaves the tree' truncate.c \
	's/(static void truncate_delete.*?)\n\tlock_acquire/$1\n\tfor (unsigned i = 0; i < nr; i++)\n\t\tfolio_unlock(folios[i]);\n\tlock_acquire/s; s/FOLIO_DIRTY\);\n\t\tfolio_unlock\(folios\[i\]\);/FOLIO_DIRTY);/' \
	truncate_race-points fsx-points
fault 'unlock order: a new folio is unlocked before it is mapped' fault.c \
	's/\n\tbool mapped = fault_set_entries\(fault, folio\);\n/\n\tfolio_unlock(folio);\n\tbool mapped = fault_set_entries(fault, folio);\n/; s/(\&folio->mapcount, 1, memory_order_relaxed\);)\n\tfolio_unlock\(folio\);\n\tif \(!mapped\)\n\t\tfolio_put\(folio, fault->thread\);\n\}\n\n\/\*\n \* The frames/$1\n\tif (!mapped)\n\t\tfolio_put(folio, fault->thread);\n}\n\n\/*\n * The frames/' \
	truncate_race-points fsx-points
fault 'resizing sets the size after the pages have gone' truncate.c \
	's/(\n\tatomic_store_explicit\(&mapping->i_size, bytes, memory_order_seq_cst\);)(.*?\n\t\})/$2$1/s' \
	truncate_race truncate_race-points

printf '%d of %d faults caught\n' $caught $((caught + survived))
[ $survived -eq 0 ] && [ $caught -gt 0 ]
