# bash completion for tally: `tally complete` says what is offered.
#
# bash splits the line at the characters of COMP_WORDBREAKS, so that --dump=x, unix:/run/x and cpc:::x are several words,
# and it replaces only the last of them.  Here they are put together again, and what bash already has is cut off each reply.
_tally() {
	local w=() at=() cut=0 line=${COMP_LINE-${COMP_WORDS[*]}} behind part gap i word rest
	behind=${line:${COMP_POINT-${#line}}} line=${line:0:${COMP_POINT-${#line}}}
	# w: the words up to the cursor; at: where in COMP_WORDS each begins; cut: how much of the last bash does not replace
	for ((i = 0; i <= COMP_CWORD; i++)); do
		gap=${line%%[![:space:]]*} part=${COMP_WORDS[i]}
		line=${line#"$gap"}
		((i == COMP_CWORD)) && part=$line
		line=${line#"$part"}
		((i == COMP_CWORD)) && part=${part#[\'\"]}
		if [[ $gap || $i == 0 ]]; then w+=("") at+=("$i"); fi
		cut=${#w[-1]} w[-1]+=$part
	done
	if [[ $part && $part != *[!=:,\;\<\>@\&\|]* ]]; then cut=${#w[-1]}; fi
	COMPREPLY=()
	while IFS=$'\t' read -r word rest; do
		case $word in
		:files | :directories)
			compopt -o filenames
			mapfile -t COMPREPLY < <([[ $word == :files ]] && i=f || i=d; compgen -"$i" -P "$rest" -- "${w[-1]#"$rest"}") ;;
		:command)
			if declare -F _comp_command_offset >/dev/null; then _comp_command_offset "${at[rest]}"; return
			elif declare -F _command_offset >/dev/null; then _command_offset "${at[rest]}"; return
			elif ((${#w[@]} - 1 == rest)); then mapfile -t COMPREPLY < <(compgen -c -- "${w[-1]}")
			else compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${w[-1]}"); fi ;;
		:more) compopt -o nospace ;;
		*) [[ $word != *[![:alnum:]_.,:/=+@-]* ]] && COMPREPLY+=("$word") ;;
		esac
	done < <(_tally_run complete "$behind" "${w[@]}")
	[[ ${COMPREPLY-} == *[=/:-] ]] && compopt -o nospace
	for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]:cut}; done
}
_tally_run() {
	local tally=${COMP_WORDS[0]/#\~/$HOME}
	[[ ${tally##*/} == dtrace ]] && tally=tally
	"$tally" "$@" 2>/dev/null
}
complete -F _tally tally dtrace
