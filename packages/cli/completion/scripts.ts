// The completion scripts of bash (from 3.2 on), zsh (a file `_sub` in $fpath, or sourced) and fish (from 3.0 on).
import {
  type CompletedOption,
  type CompletedValue,
  type CompletionPoint,
  spacedPaths,
} from './points.ts';

export function bashScript(points: readonly CompletionPoint[]): string {
  return [
    '# bash completion of sub; `sub completion bash` prints it.',
    '_sub_files() {',
    "  local IFS=$'\\n'",
    '  COMPREPLY=($(compgen -f -- "$1"))',
    '  compopt -o filenames 2>/dev/null || true',
    '}',
    '_sub() {',
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at="" i',
    '  COMPREPLY=()',
    '  # `--option=value` comes as three words.',
    '  if [[ "$cur" == "=" ]]; then cur=""',
    '  elif [[ "$prev" == "=" ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    if [[ "${COMP_WORDS[i]}" == "--" ]]; then',
    '      if ((i + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "$cur")); else _sub_files "$cur"; fi',
    '      return',
    '    fi',
    '    case "$at ${COMP_WORDS[i]}" in',
    `      ${spacedPaths(points)
      .map((path) => `"${path}"`)
      .join(' | ')}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;`,
    '    esac',
    '  done',
    '  case "$at" in',
    ...points.flatMap(bashLines),
    '  esac',
    '}',
    'complete -F _sub sub',
    '',
  ].join('\n');
}

function bashLines({ path, commands, options, argument }: CompletionPoint): readonly string[] {
  const valued = [...byAnswer(options)].map(
    ([answer, flags]) => `        ${flags.join(' | ')}) ${answer}; return ;;`,
  );
  const flags = options.flatMap((option) => option.flags).join(' ');
  const names = commands.map(({ name }) => name);
  const rest: CompletedValue = names.length > 0 ? { kind: 'words', words: names } : argument;
  return [
    `    "${path.join(' ')}")`,
    ...(valued.length === 0 ? [] : ['      case "$prev" in', ...valued, '      esac']),
    '      if [[ "$cur" == -* ]]; then',
    `        COMPREPLY=($(compgen -W "${flags}" -- "$cur"))`,
    `      else ${bashValue(rest)}; fi ;;`,
  ];
}

/** Options whose values are completed in the same way share a line. */
function byAnswer(options: readonly CompletedOption[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const { flags, value } of options) {
    if (value === undefined) continue;
    const answer = bashValue(value);
    found.set(answer, [...(found.get(answer) ?? []), ...flags]);
  }
  return found;
}

function bashValue(value: CompletedValue): string {
  switch (value.kind) {
    case 'words':
      return `COMPREPLY=($(compgen -W "${value.words.join(' ')}" -- "$cur"))`;
    case 'files':
      return '_sub_files "$cur"';
    case 'text':
      return ':';
  }
}

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
    `      (${spacedPaths(points).map(zshQuoted).join('|')}) at="\${at:+$at }\${words[i]}" ;;`,
    '    esac',
    '  done',
    '  case "$at" in',
    ...points.flatMap(zshLines),
    '  esac',
    '}',
    '# Sourced, it must register itself; as a file of $fpath it is run right away.',
    'if [[ "${funcstack[1]}" == "_sub" ]]; then _sub "$@"; else compdef _sub sub; fi',
    '',
  ].join('\n');
}

function zshLines({ path, commands, options, argument }: CompletionPoint): readonly string[] {
  const valued = options.flatMap(({ flags, value }) =>
    value === undefined ? [] : [`        (${flags.join('|')}) ${zshValue(value)}; return ;;`],
  );
  const flags = options.flatMap((option) => option.flags.map((flag) => item(flag, option.doc)));
  const names = commands.map(({ name, doc }) => item(name, doc));
  return [
    `    (${zshQuoted(path.join(' '))})`,
    ...(valued.length === 0 ? [] : ['      case "$prev" in', ...valued, '      esac']),
    '      if [[ "$cur" == -* ]]; then',
    `        items=(${flags.join(' ')})`,
    "        _describe -o 'option' items",
    names.length > 0
      ? `      else items=(${names.join(' ')}); _describe 'command' items; fi ;;`
      : `      else ${zshValue(argument)}; fi ;;`,
  ];
}

function zshValue(value: CompletedValue): string {
  switch (value.kind) {
    case 'words':
      return `items=(${value.words.map(zshQuoted).join(' ')}); _describe 'value' items`;
    case 'files':
      return '_files';
    case 'text':
      return ':';
  }
}

/** A word with its help; a colon in the word would end it. */
function item(word: string, doc: string): string {
  return zshQuoted(`${word.replaceAll(':', '\\:')}:${doc}`);
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function fishScript(points: readonly CompletionPoint[]): string {
  const paths = points.map(({ path }) => path.join(' ')).filter((path) => path !== '');
  return [
    '# fish completion of sub; `sub completion fish` prints it.',
    'function __sub_at --description "whether the words so far are this command"',
    "    set -l at ''",
    '    for word in (commandline -opc)[2..-1]',
    '        if test "$word" = \'--\'',
    '            return 1',
    '        end',
    '        switch (string trim -- "$at $word")',
    `            case ${paths.map(fishQuoted).join(' ')}`,
    '                set at (string trim -- "$at $word")',
    '        end',
    '    end',
    '    test "$at" = "$argv[1]"',
    'end',
    "complete -c sub -n 'not contains -- -- (commandline -opc)' -f",
    ...points.flatMap(fishLines),
    '',
  ].join('\n');
}

function fishLines({ path, commands, options, argument }: CompletionPoint): readonly string[] {
  const start = `complete -c sub -n ${fishQuoted(`__sub_at "${path.join(' ')}"`)}`;
  return [
    ...commands.map(({ name, doc }) => `${start} -a ${name} -d ${fishQuoted(doc)}`),
    ...options.map((option) => `${start}${optionText(option)}`),
    ...(argument.kind === 'files' ? [`${start} -F`] : []),
    ...(argument.kind === 'words' ? [`${start} -a ${fishQuoted(argument.words.join(' '))}`] : []),
  ];
}

function optionText({ flags, doc, value }: CompletedOption): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`,
  );
  return `${names.join('')}${valueText(value)} -d ${fishQuoted(doc)}`;
}

function valueText(value: CompletedValue | undefined): string {
  if (value === undefined) return '';
  if (value.kind === 'files') return ' -r -F';
  return value.kind === 'text' ? ' -x' : ` -x -a ${fishQuoted(value.words.join(' '))}`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
