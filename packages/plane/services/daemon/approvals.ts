// Approvals as the daemon has them: channels that reach people, answers that come back, and what
// the HTTP API needs to let people decide.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { processInfo, thisSystem } from '../../os/index.ts';
import type { Desk, Owner } from '../../stores/approvals/index.ts';
import type { ApprovalSettings, Env } from '../../stores/config/index.ts';
import type { Ledger } from '../../stores/ledger/index.ts';
import type { Api, Callback, Callbacks, DeskOptions } from '../api/index.ts';
import type { IngestServer } from '../ingest/server.ts';
import type { Ends } from './approval-ends.ts';
import type { LedgerHome } from './home.ts';

interface ApprovalsOptions {
  readonly home: LedgerHome;
  readonly env: Env;
  readonly ledger: Ledger;
  readonly server: IngestServer;
  readonly log: (message: string) => void;
}

export interface Approvals {
  readonly desk?: DeskOptions;
  readonly callbacks?: Callbacks;
  close(): Promise<void>;
}

/** Nothing, when the queue cannot be opened: the ledger works without. */
export async function openApprovals(options: ApprovalsOptions): Promise<Approvals> {
  const { home, log } = options;
  const { openDesk } = await import('../../stores/approvals/index.ts');
  const desk = openDesk({
    home: home.paths.home,
    ports: { nowMs: Date.now, uuid: uuidv7, warn: log, ...owners() },
  });
  if (isFailure(desk)) {
    log(`approvals are off: ${desk.message} ${desk.fix}`);
    return { close: () => Promise.resolve() };
  }
  const ends = await followWhenNeeded(desk, options);
  const callbacks = new Map<string, Callback>();
  // Secrets may come from far away: the daemon does not wait for them.
  const reaching = reachPeople(desk, callbacks, options);
  const by = thisSystem().userName() ?? 'unknown';
  return {
    desk: { desk, by, isGone },
    callbacks,
    close: async () => {
      const stop = await reaching;
      await stop?.();
      await ends.stop();
    },
  };
}

/** Starts the channels that the configuration names; a problem is logged, and ends nothing else. */
async function reachPeople(
  desk: Desk,
  callbacks: Map<string, Callback>,
  { home, env, server, log }: ApprovalsOptions,
): Promise<(() => Promise<void>) | undefined> {
  const { approvals: settings, config, paths } = home;
  if (settings === undefined) return undefined;
  try {
    const { startChannels } = await import('./channels.ts');
    const channels = await startChannels({ desk, settings, config, paths, env, log });
    if (channels.names.length > 0) log(`asking people by ${channels.names.join(', ')}`);
    server.setChannels(channels.names);
    for (const [path, callback] of channels.callbacks) callbacks.set(path, callback);
    const address = await openAddress(settings, callbacks, log);
    return async () => {
      await address?.close();
      await channels.stop();
    };
  } catch (cause) {
    log(`people cannot be reached: ${String(cause)}`);
    return undefined;
  }
}

function owners(): { readonly self: Owner; readonly isGone: (owner: Owner) => boolean } {
  const { pid } = process;
  const start = processInfo(pid, thisSystem())?.start ?? 'unknown';
  return { self: { pid, start }, isGone };
}

function isGone({ pid, start }: Owner): boolean {
  return processInfo(pid, thisSystem())?.start !== start;
}

/** Opens an address of its own for answers, where one is wanted. */
async function openAddress(
  { listen }: ApprovalSettings,
  callbacks: Callbacks,
  log: (message: string) => void,
): Promise<Api | undefined> {
  if (listen === null || callbacks.size === 0) return undefined;
  const { openCallbacks } = await import('../api/index.ts');
  const opened = await openCallbacks({ callbacks, ...listen });
  if (isFailure(opened)) {
    log(`approvals.listen is not served: ${opened.message} ${opened.fix}`);
    return undefined;
  }
  log(`taking answers to approvals on ${opened.url}`);
  return opened;
}

/** Most homes never have a request: nothing is made or watched there until one is. */
async function followWhenNeeded(desk: Desk, options: ApprovalsOptions): Promise<Ends> {
  const { home, ledger, server, log } = options;
  const { recordEnds } = await import('./approval-ends.ts');
  const { hostId: hostIdFile } = home.paths;
  const begin = () => recordEnds({ desk, reader: ledger.store, server, isGone, hostIdFile, log });
  const isThere = () => existsSync(join(home.paths.home, 'approvals'));
  if (home.approvals !== undefined || isThere()) return begin();
  let ends: Ends | undefined;
  const forget = server.onAdded(() => {
    if (ends === undefined && isThere()) {
      ends = begin();
      forget();
    }
  });
  return {
    stop: async () => {
      forget();
      await ends?.stop();
    },
  };
}
