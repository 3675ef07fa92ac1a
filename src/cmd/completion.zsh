#compdef tally dtrace
# zsh completion for tally: `tally complete` says what is offered.
_tally() {
	local tally=$words[1] line word rest
	local -a whole whole_help part part_help value value_help
	[[ ${tally:t} == dtrace ]] && tally=tally
	local more=
	for line in ${(f)"$($tally complete "$SUFFIX ${words[CURRENT+1,-1]}" "${(@Q)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)"}; do
		word=${line%%$'\t'*} rest=${line#*$'\t'}
		case $word in
		:files) compset -P "${(b)rest}"; _files; return ;;
		:directories) compset -P "${(b)rest}"; _files -/; return ;;
		:command)
			if (( CURRENT == rest + 1 )); then _command_names -e; return; fi
			shift $rest words; (( CURRENT -= rest )); _normal; return ;;
		:more) more=1 ;;
		*=) value+=(${word%=}) value_help+=("${word%=}${rest:+  -- $rest}") ;;
		*)
			if [[ -n $more || $word == *[/:-] ]]; then part+=($word) part_help+=("$word${rest:+  -- $rest}")
			else whole+=($word) whole_help+=("$word${rest:+  -- $rest}"); fi ;;
		esac
	done
	# names that end in / : - go on; a = that is typed behind one that is there already is the same
	compadd -S '' -d part_help -a part
	compadd -q -S '=' -d value_help -a value
	compadd -d whole_help -a whole
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _tally "$@"; else compdef _tally tally dtrace; fi
