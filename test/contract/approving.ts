// People for the contract tests: they see the queue of a rig, and answer by the built `sub`.

import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { type Desk, type Entry, openDesk } from '@subluminal/plane/approvals';
import { thisSystem } from '@subluminal/plane/os';
import type { Ended } from '../e2e/sub.ts';
import { openTerminal, personSub } from '../person.ts';
import { bundle } from './messages.ts';
import { until } from './proc.ts';

export interface Approving {
  readonly home: string;
  readonly desk: Desk;
  /** The one request that waits; asked for until there is one. */
  pending(): Promise<Entry>;
  /** The request, when it is in that state. */
  inState(id: string, state: Entry['state']): Promise<Entry>;
  sub(...args: readonly string[]): Promise<Ended>;
}

// Whoever approves was there before the run.
await openTerminal();

/** Calls of `pay` wait for a person, calls of `hint_pay` may be tried again. */
export function asking(timeoutMs = 600_000, more = ''): string {
  return bundle(`
  - rule_id: ask
    kind: approval
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["pay"] } }
    effect: { message: Paying needs a person., approval: { wait: hold, timeout_ms: ${timeoutMs} } }
  - rule_id: ask-again
    kind: approval
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["hint_pay"] } }
    effect: { message: Paying needs a person., approval: { wait: hint, timeout_ms: ${timeoutMs} } }
${more}`);
}

export function approvingAt(folder: string): Approving {
  const home = join(folder, 'home');
  const desk = openDesk({
    home,
    ports: { nowMs: () => Date.now(), uuid: () => thisSystem().uuidByTime() },
  });
  if (isFailure(desk)) throw new Error(desk.message);
  const listed = (state: Entry['state']): readonly Entry[] => {
    const all = desk.queue.list({ state });
    return isFailure(all) ? [] : all.found;
  };
  const env = { HOME: folder, SUB_HOME: home, SUB_RUN_ID: '' };
  return {
    home,
    desk,
    pending: () => until(() => listed('pending')[0], 'a request'),
    inState: (id, state) =>
      until(() => listed(state).find(({ request }) => request.id === id), `${id} to be ${state}`),
    sub: (...args) => personSub(args, { cwd: folder, env }),
  };
}
