// The completion of fish, from version 3.0 on.
import type { CompletedOption, CompletedValue, CompletionPoint } from './points.ts';

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
    `            case ${paths.map(quoted).join(' ')}`,
    '                set at (string trim -- "$at $word")',
    '        end',
    '    end',
    '    test "$at" = "$argv[1]"',
    'end',
    "complete -c sub -n 'not contains -- -- (commandline -opc)' -f",
    ...points.flatMap(pointLines),
    '',
  ].join('\n');
}

function pointLines({ path, commands, options, argument }: CompletionPoint): readonly string[] {
  const start = `complete -c sub -n ${quoted(`__sub_at "${path.join(' ')}"`)}`;
  return [
    ...commands.map(({ name, doc }) => `${start} -a ${name} -d ${quoted(doc)}`),
    ...options.map((option) => `${start}${optionText(option)}`),
    ...(argument.kind === 'files' ? [`${start} -F`] : []),
    ...(argument.kind === 'words' ? [`${start} -a ${quoted(argument.words.join(' '))}`] : []),
  ];
}

function optionText({ flags, doc, value }: CompletedOption): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`,
  );
  return `${names.join('')}${valueText(value)} -d ${quoted(doc)}`;
}

function valueText(value: CompletedValue | undefined): string {
  if (value === undefined) return '';
  if (value.kind === 'files') return ' -r -F';
  return value.kind === 'text' ? ' -x' : ` -x -a ${quoted(value.words.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
