// The completion of bash, from version 3.2 on.
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
    ...points.flatMap(pointLines),
    '  esac',
    '}',
    'complete -F _sub sub',
    '',
  ].join('\n');
}

function pointLines({ path, commands, options, argument }: CompletionPoint): readonly string[] {
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
    `      else ${completed(rest)}; fi ;;`,
  ];
}

/** Options whose values are completed in the same way share a line. */
function byAnswer(options: readonly CompletedOption[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const { flags, value } of options) {
    if (value === undefined) continue;
    const answer = completed(value);
    found.set(answer, [...(found.get(answer) ?? []), ...flags]);
  }
  return found;
}

function completed(value: CompletedValue): string {
  switch (value.kind) {
    case 'words':
      return `COMPREPLY=($(compgen -W "${value.words.join(' ')}" -- "$cur"))`;
    case 'files':
      return '_sub_files "$cur"';
    case 'text':
      return ':';
  }
}
