// Why a shim ended and with which exit code.
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { StopSignal } from './triggers.ts';

export type StopReason =
  /** The agent closed our stdin. */
  | { readonly kind: 'input_closed' }
  /** The agent no longer reads our stdout. */
  | { readonly kind: 'output_closed' }
  | { readonly kind: 'parent_gone' }
  | { readonly kind: 'signal'; readonly signal: StopSignal }
  | { readonly kind: 'server_ended' }
  /** The server closed a pipe but lives. */
  | { readonly kind: 'server_closed_pipe' }
  /** The hub or a policy asks. */
  | { readonly kind: 'asked'; readonly exitCode: number };

export type Force = 'none' | 'term' | 'kill';

export interface ServerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Outcome {
  readonly reason: StopReason;
  readonly exitCode: number;
  readonly server: ServerEnd;
  /** How far it had to go. */
  readonly force: Force;
  /** Pids that outlived even SIGKILL, such as those of another user; empty in all but odd cases. */
  readonly left: readonly number[];
}

/** How the server ended; undefined while it lives. */
export function endOf({ exitCode, signalCode }: ChildProcess): ServerEnd | undefined {
  if (exitCode === null && signalCode === null) return undefined;
  return { code: exitCode, signal: signalCode };
}

/** The server's own code when it ended by itself, 128 + signal when we were signalled, else 0. */
export function exitCodeFor(reason: StopReason, server: ServerEnd, force: Force): number {
  switch (reason.kind) {
    case 'signal':
      return 128 + constants.signals[reason.signal];
    case 'asked':
      return reason.exitCode;
    case 'server_ended':
      return ownCode(server);
    case 'server_closed_pipe':
      return force === 'none' ? ownCode(server) : 1;
    default:
      return 0;
  }
}

function ownCode({ code, signal }: ServerEnd): number {
  return signal === null ? (code ?? 1) : 128 + constants.signals[signal];
}
