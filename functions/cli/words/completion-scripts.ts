/**
 * The scripts that shells load for completion. Each asks the hidden command `__complete` for the words that may stand
 * at the cursor: one a line, with a description behind a tab; the line `:files` stands for the names of files.
 */
export const filesLine = ':files';

const bash = `# probelet: source <(probelet completion bash)
_probelet() {
  local line=\${COMP_LINE:0:COMP_POINT} found before word
  local -a words=()
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=\${words[\${#words[@]}-1]}
  # bash takes a word to begin behind these characters, and puts what is found there.
  before=\${word%"\${word##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r found; do
    if [[ $found == ${filesLine} ]]; then
      compopt -o default 2>/dev/null
      return
    fi
    found=\${found%%$'\\t'*}
    COMPREPLY+=("\${found#"$before"}")
  done < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _probelet probelet
`;

const zsh = `#compdef probelet
# probelet: source <(probelet completion zsh)
_probelet() {
  local line
  local -a described
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == ${filesLine} ]]; then
      _files
      return
    fi
    line=\${line//:/\\\\:}
    described+=("\${line/$'\\t'/:}")
  done
  _describe probelet described
}
if [[ $funcstack[1] == _probelet ]]; then _probelet "$@"; else compdef _probelet probelet; fi
`;

const fish = `# probelet: probelet completion fish | source
function __probelet_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ${filesLine}
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c probelet -f -a '(__probelet_complete)'
`;

export const completionScripts = { bash, zsh, fish } as const;
