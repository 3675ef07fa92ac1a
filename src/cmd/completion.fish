# fish completion for tally: `tally complete` says what is offered.
function __tally_complete
	set -l w (commandline -opc)
	set -l last (commandline -ct)
	set -l behind (string sub -s (math (string length -- (commandline -cp)) + 1) -- (commandline -p))
	set -l tally $w[1]
	string match -q '*dtrace' -- $tally; and set tally tally
	for line in (command $tally complete "$behind" $w "$last" 2>/dev/null)
		set -l part (string split -m 1 \t -- $line)
		switch $part[1]
			case :files
				for n in (complete -C "cat "(string sub -s (math (string length -- "$part[2]") + 1) -- $last))
					echo -- $part[2]$n
				end
			case :directories
				for n in (__fish_complete_directories (string sub -s (math (string length -- "$part[2]") + 1) -- $last))
					echo -- $part[2]$n
				end
			case :command
				set -l own $w $last
				complete -C (string join -- ' ' (string escape -- $own[(math $part[2] + 1)..-2]) $own[-1])
			case :more
			case '*'
				echo -- $line
		end
	end
end
complete -c tally -f -a '(__tally_complete)'
complete -c dtrace -f -a '(__tally_complete)'
