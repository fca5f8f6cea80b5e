// The completion of zsh: as a file `_sub` in $fpath, or sourced.
import { type CompletedValue, type CompletionPoint, spacedPaths } from './points.ts';

export function zshScript(points: readonly CompletionPoint[]): string {
  return [
    '#compdef sub',
    '# zsh completion of sub; `sub completion zsh` prints it.',
    '_sub() {',
    '  local cur="${words[CURRENT]}" prev="${words[CURRENT-1]}" at=""',
    '  local -i i',
    '  local -a items',
    '  for ((i = 2; i < CURRENT; i++)); do',
    '    if [[ "${words[i]}" == "--" ]]; then',
    '      if ((i + 1 == CURRENT)); then _command_names -e; else _files; fi',
    '      return',
    '    fi',
    '    case "$at ${words[i]}" in',
    `      (${spacedPaths(points).map(quoted).join('|')}) at="\${at:+$at }\${words[i]}" ;;`,
    '    esac',
    '  done',
    '  case "$at" in',
    ...points.flatMap(pointLines),
    '  esac',
    '}',
    '# Sourced, it must register itself; as a file of $fpath it is run right away.',
    'if [[ "${funcstack[1]}" == "_sub" ]]; then _sub "$@"; else compdef _sub sub; fi',
    '',
  ].join('\n');
}

function pointLines({ path, commands, options, argument }: CompletionPoint): readonly string[] {
  const valued = options.flatMap(({ flags, value }) =>
    value === undefined ? [] : [`        (${flags.join('|')}) ${completed(value)}; return ;;`],
  );
  const flags = options.flatMap((option) => option.flags.map((flag) => item(flag, option.doc)));
  const names = commands.map(({ name, doc }) => item(name, doc));
  return [
    `    (${quoted(path.join(' '))})`,
    ...(valued.length === 0 ? [] : ['      case "$prev" in', ...valued, '      esac']),
    '      if [[ "$cur" == -* ]]; then',
    `        items=(${flags.join(' ')})`,
    "        _describe -o 'option' items",
    names.length > 0
      ? `      else items=(${names.join(' ')}); _describe 'command' items; fi ;;`
      : `      else ${completed(argument)}; fi ;;`,
  ];
}

function completed(value: CompletedValue): string {
  switch (value.kind) {
    case 'words':
      return `items=(${value.words.map(quoted).join(' ')}); _describe 'value' items`;
    case 'files':
      return '_files';
    case 'text':
      return ':';
  }
}

/** A word and what is said about it; a colon in the word would end it. */
function item(word: string, doc: string): string {
  return quoted(`${word.replaceAll(':', '\\:')}:${doc}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
