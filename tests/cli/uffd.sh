#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cache:map=uffd as users meet it: exact counts, without privilege, and what it says where it cannot be.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
command -v jq >/dev/null || skip_all 'jq is not installed'

run "$PAGEZONE" run --engine cache:batch=1,map=uffd -q -t 1 -S 2m -R 1 -i 0
case $err in
*userfaultfd*) skip_all "$(head -n 1 <<<"$err")" ;;
esac
status_is 0 'real faults'

for layout in private shared; do
	run "$PAGEZONE" speedup -q -t 1,3 -S 16m -R 1 --layout $layout -o "$tmp/r.json" \
		--baseline cache:batch=1,map=uffd --patched cache:batch=512,map=uffd
	status_is 0 "two sides, files are $layout"
	# Shares of 3 workers are 1366 or 1365 pages.
	holds 'all(.samples[] | select(.side == "baseline"); .counters.faults == 4096)' \
		"$layout: batch=1: a fault a page in every phase"
	holds 'all(.samples[] | select(.threads == 1 and .side == "patched");
		.counters.faults == 8)' "$layout: batch=512: a fault for each 512 pages"
	holds 'all(.samples[] | select(.phase == "initial-writer");
		.counters.pages_inserted == 4096)' "$layout: every page is inserted once"
	holds 'all(.samples[] | select(.phase != "initial-writer");
		.counters.pages_inserted == 0 and .counters.tree_lock_acquisitions == 0)' \
		"$layout: and stays"
	holds 'all(.samples[]; .counters.mmap_lock_acquisitions == .counters.faults)' \
		"$layout: mmap_lock once a fault"
done

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	# From a place that others can read.
	mkdir "$tmp/bin" && cp "$PAGEZONE" "$tmp/bin/pagezone" && chmod -R a+rX "$tmp"
	run setpriv --reuid=1000 --regid=1000 --clear-groups "$tmp/bin/pagezone" run -q \
		--engine cache:batch=512,map=uffd -t 2 -S 4m -R 1
	status_is 0 'and without privilege'
else
	skip 'not root, so without privilege already'
fi

deny=${top_builddir:?}/tests/deny
"$deny" write=EIO -- true
if [ $? -eq 77 ]; then
	skip 'no seccomp filters here' 6
else
	for call in userfaultfd=ENOSYS userfaultfd=EMFILE memfd_create=EMFILE; do
		run "$deny" $call -- "$PAGEZONE" run -q --engine cache:batch=1,map=uffd -t 2 \
			-S 4m -R 1 -i 0
		status_is 3 "$call: could not measure"
		like "$err" "${call%=*}|memfd" "$call: the reason names it"
	done
fi

done_testing
