// Keeps governed agents from deciding for a person: what changes something is taken from nobody inside a run, with
// whatever token or session it comes.
import type { Socket } from 'node:net';
import { type System, thisSystem } from '../../os/index.ts';
import { connectionFailure } from '../../stores/identity/index.ts';
import type { HttpFailure } from './http-failure.ts';

interface PersonGuardOptions {
  readonly runDir?: string | undefined;
  readonly system?: System;
  readonly nowMs: () => number;
  readonly onWarning?: (message: string) => void;
}

/** Why whoever has this connection may not decide; looked up once for each. */
export type PersonGuard = (socket: Socket) => HttpFailure | undefined;

/** An agent that tries again and again does not fill the log. */
const WARNING_EVERY_MS = 60_000;

export function personGuard(options: PersonGuardOptions): PersonGuard {
  const { runDir, system = thisSystem(), nowMs, onWarning } = options;
  if (runDir === undefined) return () => undefined;
  const known = new WeakMap<Socket, HttpFailure | 'may'>();
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  const look = (socket: Socket): HttpFailure | 'may' => {
    const failed = connectionFailure(socket, { runDir, system });
    if (failed === undefined) return 'may';
    if (nowMs() - warnedAtMs >= WARNING_EVERY_MS) {
      warnedAtMs = nowMs();
      onWarning?.(`The API has refused to decide for an agent: ${failed.message}`);
    }
    return { ...failed, status: 403 };
  };
  return (socket) => {
    const found = known.get(socket) ?? look(socket);
    known.set(socket, found);
    return found === 'may' ? undefined : found;
  };
}
