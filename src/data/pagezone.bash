# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for pagezone. With the bash-completion package it is loaded on demand; without
# it, source this file.

_pagezone_phases='initial-writer rewriter reader re-reader reverse-reader random-reader random-writer'

# _pagezone_list CURRENT WORDS: completes the last item of a comma-separated list.
_pagezone_list()
{
	local done=

	[[ $1 != *,* ]] || done=${1%,*},
	mapfile -t COMPREPLY < <(compgen -P "$done" -W "$2" -- "${1##*,}")
}

_pagezone_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
}

_pagezone()
{
	local cur prev command line options batch huge specs gated n words
	local common='--threads --size --total --record --phases --rounds --precision --budget --quick --layout
		--limit --workers --pin --mem --verify --seed --per --format --output --quiet'
	local truncate='--baseline --patched --min-speedup --max-regression --reference --pages --count --runs
		--precision --budget --state --mapped
		--threads --layout --pin --mem --seed --format --output --quiet'
	local compare='--max-regression --min-speedup --reference --side --force --per --format'
	local help='--help --usage --version'

	# "--pin=spread" and "cache:batch=1" are several words to readline: join them again,
	# and later give it only what lies behind its last break.
	line=${COMP_LINE:0:COMP_POINT}
	cur=${line##*[[:space:]]}
	line=${line%"$cur"}
	read -r -a words <<<"$line"
	command=${words[1]-}
	prev=${words[${#words[@]} - 1]-}
	COMPREPLY=()

	if [ "${#words[@]}" -le 1 ]; then
		_pagezone_words "$cur" "speedup run truncate compare import plot topology $help"
		return
	fi
	if [[ $cur == --*=* ]]; then
		prev=${cur%%=*}
		cur=${cur#*=}
	fi

	case $command:${#words[@]} in
	import:2)
		[[ $cur == -* ]] || prev=@import
		;;
	import:*)
		[[ $cur == -* ]] || prev=--output
		[ "${words[2]}" != reference ] || [ "${#words[@]}" -ne 3 ] || prev=@reference
		;;
	plot:*)
		[[ $cur == -* || $prev == --per ]] || prev=--output
		;;
	esac

	case $prev in
	@import) _pagezone_words "$cur" 'iozone reference' ;;
	@reference | --reference) _pagezone_words "$cur" 'thp-page-cache-2013 batched-truncation-2017' ;;
	--baseline | --patched | --engine)
		specs='memory null kernel:dir='
		for huge in never always within_size advise; do
			specs+=" tmpfs:huge=$huge"
		done
		for ((batch = 1; batch <= 512; batch *= 2)); do
			specs+=" cache:batch=$batch"
		done
		[ "$command" != truncate ] ||
			specs+=' cache:batch=1,truncate-batch=1 cache:batch=1,truncate-batch=15'
		_pagezone_words "$cur" "$specs"
		;;
	-i | --phases)
		_pagezone_list "$cur" "$_pagezone_phases"
		;;
	--layout) _pagezone_words "$cur" 'private shared' ;;
	--workers) _pagezone_words "$cur" 'thread process' ;;
	--pin)
		_pagezone_words "$cur" 'spread compact node: cpus: none'
		[[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
		;;
	--mem)
		_pagezone_words "$cur" 'local remote interleave bind: none'
		[[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
		;;
	--state) _pagezone_words "$cur" 'clean dirty' ;;
	--mapped) _pagezone_words "$cur" 'yes no' ;;
	--per) _pagezone_words "$cur" 'thread total' ;;
	-f | --format)
		case $command in
		topology) _pagezone_words "$cur" 'table json' ;;
		compare) _pagezone_words "$cur" 'table json csv markdown junit' ;;
		*) _pagezone_words "$cur" 'table json csv markdown' ;;
		esac
		;;
	-R | --rounds | --runs) _pagezone_words "$cur" auto ;;
	--side) _pagezone_words "$cur" 'baseline patched patched2 run' ;;
	--min-speedup)
		if [[ $cur == *:* ]]; then
			gated=$_pagezone_phases
			[ "$command" != truncate ] || gated=truncate
			mapfile -t COMPREPLY < <(compgen -P "${cur%%:*}:" -W "$gated" -- "${cur#*:}")
		fi
		;;
	-o | --output | --topology)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	-t | --threads | -s | --size | -S | --total | -r | --record | --seed | \
		--pages | --count | --max-regression | --precision | --budget) ;;
	*)
		case $command in
		speedup) options="$common --baseline --patched --min-speedup --max-regression --reference" ;;
		run) options="$common --engine" ;;
		truncate) options=$truncate ;;
		import) options=--output ;;
		plot) options='--output --per' ;;
		compare) options=$compare ;;
		topology) options='--topology --threads --pin --mem --format' ;;
		*) options= ;;
		esac
		if [[ $command == compare && $cur != -* ]]; then
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		else
			_pagezone_words "$cur" "$options $help"
		fi
		;;
	esac

	# readline replaces only what follows its last word break in the current word.
	n=${#cur}
	while [ "$n" -gt 0 ] && [[ $COMP_WORDBREAKS != *"${cur:n-1:1}"* ]]; do
		n=$((n - 1))
	done
	[ "$n" -eq 0 ] || COMPREPLY=("${COMPREPLY[@]#"${cur:0:n}"}")
}

complete -F _pagezone pagezone
