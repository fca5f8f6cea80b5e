// Formats configs, their servers and changes of them for a terminal. All of it is hostile text.

import { definedFields, type Failure } from '@subluminal/contracts';
import type { ServerState, ServerView } from '@subluminal/plane/clients/setup';
import type { Io, Output } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import {
  displayWidth,
  hanging,
  harmless,
  harmlessTabbed,
  padded,
  paintedDiffLine,
  shortened,
} from '../terminal/text.ts';

const NAME_LENGTH_MAX = 40;
const PROGRAM_LENGTH_MAX = 120;

/** Each server with its name, and what holds for it, wrapped to the terminal. */
export function serverLines(
  servers: readonly ServerView[],
  wordsOf: (server: ServerView) => string,
  { columns }: Output,
): readonly string[] {
  const names = servers.map(({ name, project }) =>
    shortened(harmless(project === undefined ? name : `${name} (${project})`), NAME_LENGTH_MAX),
  );
  const width = Math.max(0, ...names.map(displayWidth));
  return servers.flatMap((server, index) => {
    const name = names[index] ?? '';
    const words = server.isDisabled ? `${wordsOf(server)}, disabled` : wordsOf(server);
    return hanging(`  ${padded(name, width)}  `, words, columns);
  });
}

/** The state of a server, in words. */
export function stateWords(server: ServerView): string {
  const {
    state,
    obstacle = 'no command and no address that could be read',
    program = [],
    loose = [],
  } = server;
  const words: { readonly [known in ServerState]: string } = {
    governed: 'governed',
    loose: `not governed: it starts sub shim with ${loose.join(', ')}, which \`sub import\` did not write`,
    foreign: `started by another sub, not counted (${shortened(program.join(' '), PROGRAM_LENGTH_MAX)})`,
    open: 'not governed',
    unknown: `not governed (${obstacle})`,
  };
  return words[state];
}

/** A file may be one line: of a long one, its ends are shown. A hook fits. */
const DIFF_LINE_LENGTH_MAX = 1_200;
const [HEAD_LENGTH, TAIL_LENGTH] = [800, 300];

function cut(line: string, shown: (text: string) => string): string {
  const left = line.length - HEAD_LENGTH - TAIL_LENGTH;
  if (line.length <= DIFF_LINE_LENGTH_MAX) return shown(line);
  const [head, tail] = [line.slice(0, HEAD_LENGTH), line.slice(-TAIL_LENGTH)];
  const count = left.toLocaleString('en-US');
  return `${shown(head)} … ${count} characters are not shown … ${shown(tail)}`;
}

export function diffLines(diff: string, { colors }: Output): readonly string[] {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => paintedDiffLine(cut(line.replace(/\r$/, ''), harmlessTabbed), colors));
}

export function printLines(lines: readonly string[], { write }: Output): void {
  for (const line of lines) write(`${line}\n`);
}

/** A server for programs, as far as its config tells. */
export function serverParts(server: ServerView): object {
  const { name, project, state, isDisabled, policy, profile, events, program, loose } = server;
  return definedFields({
    name,
    project,
    state,
    disabled: isDisabled,
    server_name: server.serverName,
    policy,
    profile,
    events,
    wrap_id: server.wrapId,
    origin: server.origin,
    program,
    loose,
  });
}

export function problemParts({ code, message, fix }: Failure): object {
  return { code, message, fix };
}

/** Each on its line; whether there were any. */
export function tellProblems(problems: readonly Failure[], io: Io): boolean {
  for (const problem of problems) reportFailure(problem, io);
  return problems.length > 0;
}
