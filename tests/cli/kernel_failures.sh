#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each system call by which a run on the kernel's page cache is set up fails once, with each error
# that it can give: one clear line, status 3, nothing left. What goes on nevertheless says why.
# An argument leaves only the calls with that in their name. tmpfs_failures.sh does the same to the
# other engine, at the same time.

# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
slow_test

tested=${tested:-kernel} # the engine
failonce=${top_builddir:?}/tests/failonce
! sanitized || skip_all 'sanitizers make system calls of their own, and are not traced'
"$failonce" close -- true 2>/dev/null
[ $? -ne 77 ] || skip_all 'ptrace or seccomp filters are forbidden here'

# ---- the tool ----

run "$failonce" --log "$tmp/log" openat:create=ENOSPC@2,close -- \
	bash -c "for i in 1 2 3; do : >$tmp/file\$i; done"
like "$err" 'file2: No space left on device' 'failonce: the second call fails'
is "$(cd "$tmp" && echo file*)" 'file1 file3' 'and only that one'
like "$(cat "$tmp/log")" 'openat:create 3 1.*close [1-9][0-9]* 0' 'the log counts'
run "$failonce" --after unlinkat openat:create=EIO -- \
	bash -c "set -e; : >$tmp/file2; rm $tmp/file*; : >$tmp/file4"
like "$err" 'file4: Input/output error' 'with --after the count begins there'
run "$failonce" openat:create=ENOSPC@3 -- bash -c "(: >$tmp/a; : >$tmp/b); (: >$tmp/c)"
like "$err" '/c: No space' 'it follows into processes'
run "$failonce" close -- sh -c 'exit 7'
status_is 7 'the exit status is the command'\''s'
# shellcheck disable=SC2016 # for that shell
run "$failonce" close -- sh -c 'kill -TERM $$'
status_is 143 'or 128 and the signal'
run "$failonce" nonsense=EIO -- true
status_is 125 'an unknown call is wrong usage'
rm -f "$tmp"/[abc] "$tmp"/file*

# ---- the runs ----

dir=$tmp/dir
mkdir "$dir"
declare -A spec=(
	[kernel]="kernel:dir=$dir,advise=hugepage,populate=8,faultaround=off,write=64k"
	[tmpfs]='tmpfs:huge=always'
)
engine=
workers=

# Of the engine, as the workers; the rest are items for failonce.
inject()
{
	status=0
	timeout -k 5 20 "$failonce" --log "$tmp/log" --after rt_sigaction:bus "$1" -- \
		"$PAGEZONE" run --engine "${spec[$engine]}" --workers "$workers" -q -t 2 -S 64k \
		-R 1 -i 0 >"$tmp/.out" 2>"$tmp/.err" </dev/null || status=$?
	out=$(<"$tmp/.out")
	err=$(<"$tmp/.err")
}

# What is wrong with the last run, of which WANTED is 3, 0 or 3|0; WORD is to be in its line.
problem()
{
	local wanted=$1 word=$2 line lines=0

	[[ $status =~ ^($wanted)$ ]] || echo "status $status, expected $wanted"
	while [ -n "$err" ] && read -r line; do
		lines=$((lines + 1))
		[[ $line =~ ^pagezone:\ .*[a-z] ]] || echo "not a message: $line"
		[[ ! $line =~ Success|'Unknown error'|'(null)' ]] || echo "not a reason: $line"
	done <<<"$err"
	if [ "$status" -eq 3 ]; then
		[ -n "$err" ] || echo 'no message'
		# cells that fail have a line each
		[[ $out == *'**'* ]] || [ "$lines" -eq 1 ] || echo "$lines lines"
		[[ $err =~ $word ]] || echo "the message lacks: $word"
	fi
	[ "$(ls -A "$dir")" = '' ] || echo "left in the directory: $(ls -A "$dir")"
	rm -f "$dir"/.pagezone*
	[[ $(</proc/self/mounts) != *$'\n'pagezone\ * ]] || echo 'its mount is seen outside'
}

# The numbers of the calls to fail, of NR: all, or 24 spread over them.
which()
{
	local nr=$1 i

	for ((i = 1; i <= nr; i++)); do
		((nr <= 24 || (i * 24 / nr) != ((i - 1) * 24 / nr))) && echo "$i"
	done
}

# How often the last of these calls is made: sets $nr.
declare -A counted
count()
{
	local key="$engine $workers $1"

	if [ -z "${counted[$key]:-}" ]; then
		inject "$1"
		counted[$key]=$(tail -n 1 "$tmp/log" | cut -d ' ' -f 2)
	fi
	nr=${counted[$key]}
}

# each BEFORE CALL ERROR WHAT WORD: one test point for all calls of that kind.
each()
{
	local before=$1 call=$2 error=$3 what=$4 word=$5 item name k nr wrong bad='' seen=' '
	local wanted='3|0'

	name="$engine, $workers: $before${before:+, }$call fails with $error"
	[ "$what" != fails ] || wanted=3
	[ "$what" != goes ] || wanted=0
	count "${before:+$before,}$call"
	if [ "$nr" -eq 0 ]; then
		fail "$name" 'no such call is made'
		return
	fi
	for k in $(which "$nr"); do
		item="${before:+$before,}$call=$error@$k"
		inject "$item"
		# how many there are may depend on what comes first
		[[ $(<"$tmp/log") =~ \ 1($|$'\n'$) ]] || continue
		seen+="$status "
		wrong=$(problem "$wanted" "$word")
		[ -z "$wrong" ] || bad+="@$k: $wrong"$'\n'"$err"$'\n'
	done
	if [ "$what" = mixed ] && [[ $seen != *' 3 '* ]]; then
		bad+="never status 3, but$seen"
	fi
	if [ -z "$bad" ]; then
		pass "$name ($what)"
	else
		fail "$name" "$bad"
	fi
}

#
# ENGINE WORKERS CALL ERRORS WHAT WORD
#
# ENGINE and WORKERS may be "*". CALL may follow other calls that fail first, after a plus sign.
# WHAT: fails (status 3), goes (status 0), mixed (3 for some of the calls, 0 for the others),
# either (3 or 0).  WORD, where it fails, is a regular expression for the message.
#
table()
{
	cat <<-'END'
	# the directory
	kernel * openat:path EACCES,ELOOP,EMFILE,ENAMETOOLONG,ENFILE,ENOENT,ENOMEM,ENOTDIR fails dir=
	* * openat:tmpfile EACCES,EDQUOT,EINTR,EIO,EMFILE,ENFILE,ENOMEM,ENOSPC,EPERM,EROFS fails file
	# what file systems without O_TMPFILE say: a file with a name, removed at once
	* * openat:tmpfile EOPNOTSUPP,EISDIR,ENOENT,EINVAL goes .
	* process openat:tmpfile=EOPNOTSUPP+openat:create EACCES,EDQUOT,EMFILE,ENAMETOOLONG,ENOMEM,ENOSPC,EPERM,EROFS fails file
	# somebody else's file: the next name
	* thread openat:tmpfile=EOPNOTSUPP+openat:create EEXIST goes .
	* thread openat:tmpfile=EOPNOTSUPP+unlinkat EACCES,EBUSY,EIO,ENOENT,ENOMEM,EPERM,EROFS fails file
	* * ftruncate EFBIG,EINTR,EINVAL,EIO,EPERM,ENOSPC,EDQUOT,ETXTBSY fails file
	* thread fstatfs EINTR,EIO,ENOMEM,ENOSYS,EOVERFLOW fails space|file.system
	# a limit that is not told is met when the file is made longer
	* thread prlimit64:fsize EINVAL,EPERM goes .
	# the limit stays as it is
	* thread prlimit64:nofile EINVAL,EPERM goes .
	# mappings
	* * mmap:shared-file EACCES,EAGAIN,EINVAL,ENFILE,ENODEV,ENOMEM,EOVERFLOW,EPERM fails map
	# some are of malloc(), which finds other memory
	* * mmap:none ENOMEM mixed .
	* * mmap:shared-anonymous ENOMEM mixed memory
	* * mmap ENOMEM mixed .
	* * mprotect ENOMEM either .
	# some are of the record buffers, which are advised as well as can be
	kernel * madvise:hugepage EINVAL,ENOMEM mixed advise=
	# the page that is tried tells whether the kernel knows it; others are looked at when they matter
	kernel * madvise:populate-read EINVAL fails populate=
	kernel thread madvise:populate-read EAGAIN,ENOMEM,EFAULT goes .
	# so are some of these, and what is not populated there is when it is touched
	kernel * madvise:populate EAGAIN,EFAULT,ENOMEM fails offset|record.buffers
	kernel * madvise:populate EINVAL,EPERM mixed offset
	# it is made again
	kernel thread madvise:populate EINTR goes .
	kernel * userfaultfd EMFILE,ENFILE,ENOMEM,ENOSYS fails userfaultfd
	# without UFFD_USER_MODE_ONLY, as before Linux 5.11
	kernel thread userfaultfd EINVAL goes .
	# /dev/userfaultfd may be there
	kernel thread userfaultfd EPERM either userfaultfd
	# the other kind of write-protect, which not all file systems take
	kernel * ioctl:uffdio-api EINVAL either userfaultfd
	kernel thread ioctl:uffdio-api EPERM,ENOMEM fails userfaultfd
	kernel * ioctl:uffdio-register EBUSY,EINVAL,ENOMEM,EPERM fails faultaround=off
	# the files, written
	kernel * pwrite64 EDQUOT,EFBIG,EIO,ENOSPC,EPERM fails write
	kernel thread pwrite64 EINTR goes .
	# workers
	* thread clone3 EAGAIN,ENOMEM,EPERM fails worker
	# the C library starts threads by clone(2)
	* thread clone3 ENOSYS goes .
	* process clone EAGAIN,ENOMEM,ENOSYS,EPERM fails process|worker
	# a warning
	* * sched_setaffinity EINVAL,EPERM,ESRCH goes .
	* * mbind EINVAL,ENOMEM,ENOSYS,EPERM either .
	kernel process prctl:pdeathsig EINVAL,EPERM fails outlive
	# a process that is said not to be there has ended before its time, or is not waited for
	* process wait4 ECHILD either worker|process
	* process wait4 EINTR goes .
	# the mount
	tmpfs thread clone EAGAIN,ENOMEM,ENOSYS,EPERM fails process
	tmpfs thread socketpair EMFILE,ENFILE,ENOBUFS,ENOMEM,EOPNOTSUPP fails socket
	tmpfs * prctl:pdeathsig EINVAL,EPERM fails process|worker
	tmpfs * unshare EINVAL,ENOMEM,ENOSPC,EUSERS,ENOSYS fails namespace
	# a user namespace then
	tmpfs * unshare EPERM goes .
	tmpfs thread unshare=EPERM+unshare:newuser EINVAL,ENOMEM,ENOSPC,EPERM,EUSERS fails namespace
	tmpfs thread unshare=EPERM+openat:write EACCES,EMFILE,ENOMEM,EPERM fails namespace
	tmpfs thread mount EACCES,EBUSY,EINVAL,EMFILE,ENODEV,ENOMEM,ENOSPC,EPERM,ENAMETOOLONG fails mount
	tmpfs process mount EPERM,ENOMEM fails mount
	# where one directory is missing the next one is mounted over; / is never missing
	tmpfs thread mount ENOENT,ENOTDIR mixed mount
	tmpfs * openat:directory EACCES,EMFILE,ENFILE,ENOMEM fails tmpfs
	tmpfs * sendmsg ENOBUFS,ENOMEM,EPIPE,ETOOMANYREFS fails tmpfs
	tmpfs * recvmsg EAGAIN,EINTR,ENOMEM fails mount
	tmpfs thread wait4 EINTR goes .
	tmpfs thread wait4 ECHILD either tmpfs
	# what is only told, and what was undone anyway
	* process openat EMFILE mixed .
	tmpfs thread openat EACCES mixed .
	* thread read EIO either .
	* thread munmap EINVAL,ENOMEM goes .
	* process close EINTR,EIO goes .
	* thread getrusage EINVAL goes .
	END
}

engine=$tested
for workers in thread process; do
	inject close
	is "$(problem 0 .)$err" '' "$engine, $workers: succeeds when nothing fails"
done

only=${1:-}
while read -r engines teams calls errors what word; do
	[[ -n $engines && $engines != '#' && "$calls" == *"$only"* ]] || continue
	before=
	call=$calls
	if [[ $calls == *+* ]]; then
		before=${calls%+*}
		call=${calls##*+}
	fi
	[[ $engines == "$engine" || $engines == '*' ]] || continue
	for workers in thread process; do
		[[ $teams == "$workers" || $teams == '*' ]] || continue
		for error in ${errors//,/ }; do
			each "$before" "$call" "$error" "$what" "$word"
		done
	done
done < <(table)

done_testing
