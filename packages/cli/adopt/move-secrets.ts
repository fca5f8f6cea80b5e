// Secrets that stand in plain text in a config, offered to be moved into the encrypted store. Names
// are shown, values never.

import { type Failure, isFailure } from '@subluminal/contracts';
import {
  type ImportFile,
  type ImportOptions,
  type PreparedMoves,
  planMoves,
} from '@subluminal/plane/clients/setup';
import { protectionText } from '../secrets/secrets-home.ts';
import type { Asker } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, plural } from '../terminal/text.ts';
import { tellProblems } from './lines.ts';

export interface SecretMoveOptions {
  readonly io: Io;
  readonly asks: Asker;
  readonly yes: boolean;
  readonly 'dry-run': boolean;
  readonly 'move-secrets': boolean;
  readonly 'keep-secrets': boolean;
}

type OfferedMove =
  | {
      readonly kind: 'files';
      readonly files: readonly ImportFile[];
      /** Undefined where none move. */
      readonly moves: PreparedMoves | undefined;
      readonly hasFailed: boolean;
    }
  /** They could not move, and the person does not want to go on without. */
  | { readonly kind: 'stopped' };

/** The files of one client, with their secrets on the way into the store where that is wanted. */
export async function offerMoves(
  files: readonly ImportFile[],
  wish: ImportOptions,
  how: SecretMoveOptions,
): Promise<OfferedMove | Failure> {
  const asIs: OfferedMove = { kind: 'files', files, moves: undefined, hasFailed: false };
  const count = files.reduce((sum, { secrets }) => sum + secrets.length, 0);
  if (count === 0 || how['keep-secrets']) return asIs;
  const isWanted = await isMoveWanted(files, count, how);
  if (isFailure(isWanted)) return isWanted;
  if (!isWanted) return asIs;
  const plan = await planMoves(files, wish);
  if (isFailure(plan)) return withoutStore(plan, asIs, how);
  for (const warning of plan.warnings) tell(how.io, warning);
  if (wish.env['SUB_HOME']) {
    tell(how.io, 'a server whose client does not hand SUB_HOME on does not find these secrets.');
  }
  const hasFailed = tellProblems(plan.problems, how.io);
  return { kind: 'files', files: plan.files, moves: plan.moves, hasFailed };
}

/** `--yes` is an answer to another question: it moves nothing. */
async function isMoveWanted(
  files: readonly ImportFile[],
  count: number,
  how: SecretMoveOptions,
): Promise<boolean | Failure> {
  if (how['move-secrets']) return true;
  const { io } = how;
  const words = plural(count, 'secret');
  const isAsked = !how.yes && !how['dry-run'] && io.stdinIsTerminal && io.err.isTerminal;
  if (!isAsked) {
    const stay = `${words} of ${files[0]?.client.title ?? ''} ${count === 1 ? 'stands' : 'stand'} in plain text`;
    tell(
      io,
      `${stay}: --move-secrets moves ${count === 1 ? 'it' : 'them'} into the encrypted store.`,
    );
    return false;
  }
  for (const file of files) {
    if (file.secrets.length === 0) continue;
    io.err.write(`${harmless(`${file.client.title}: ${file.path}`)}\n`);
    for (const line of secretLines(file)) io.err.write(`${line}\n`);
  }
  return how.asks.ask(`Move ${words} into the encrypted store?`);
}

/** The import goes on without the store only when the person agrees. */
async function withoutStore(problem: Failure, asIs: OfferedMove, how: SecretMoveOptions) {
  const { io, yes } = how;
  if (how['dry-run'] || yes || !io.stdinIsTerminal || !io.err.isTerminal) {
    return { ...problem, fix: `${problem.fix} --keep-secrets imports without moving any.` };
  }
  io.err.write(`sub: error: ${harmless(`${problem.message} ${problem.fix} [${problem.code}]`)}\n`);
  const answer = await how.asks.ask('Import without moving secrets?');
  if (isFailure(answer)) return answer;
  return answer ? asIs : { kind: 'stopped' as const };
}

/** Before any config changes; a failure leaves all of them as they are. */
export async function storeMoves(
  files: readonly ImportFile[],
  moves: PreparedMoves | undefined,
  { io, home }: { readonly io: Io; readonly home: string },
): Promise<Failure | undefined> {
  if (moves === undefined || files.every((file) => file.moves.length === 0)) return undefined;
  const stored = await moves.store();
  if (isFailure(stored)) return stored;
  if (stored.newStore !== undefined) {
    tell(io, `the store of secrets is new; ${protectionText(stored.newStore, home)}.`);
  }
  return undefined;
}

/** One for each: what goes, as what, and what stays in plain text. */
export function secretLines({ secrets, moves }: ImportFile): readonly string[] {
  const going = moves.map(
    (move) => `to the store: ${variableOf(move)} of ${move.server}, as ${move.secret}`,
  );
  const staying = secrets.map(({ name, project, variable, looks }) => {
    const of = project === undefined ? name : `${name} (${project})`;
    return `in plain text: ${variable} of ${of} (${looks})`;
  });
  return [...going, ...staying].map((line) => `  ${harmless(line)}`);
}

/** For programs; `secret` is the name in the store, null for what stays. */
export function secretParts({ secrets, moves }: ImportFile): readonly object[] {
  return [
    ...moves.map((move) => {
      const { server, secret } = move;
      return { server, variable: variableOf(move), secret };
    }),
    ...secrets.map(({ server, variable, looks }) => ({ server, variable, looks, secret: null })),
  ];
}

function variableOf({ path, variable }: ImportFile['moves'][number]): string {
  return variable ?? String(path.at(-1));
}

function tell(io: Io, text: string): void {
  io.err.write(`sub: ${harmless(text)}\n`);
}
