// What servers have changed since it was pinned, and what no person has accepted yet, by the ledger.
import { parseEventLine } from '@subluminal/contracts';
import type { PinStore } from '@subluminal/core/surface';
import type { StoreReader } from '../sqlite/sqlite-store.ts';
import type { ChangedDefinition } from './run-summary.ts';
import { changedDefinition } from './summary.ts';

const NOTICES_MAX = 2_000;
const SEEN_MS = 30 * 24 * 60 * 60_000;
const CHANGED = ['"tool_changed"', '"instructions_changed"'];

interface PendingChange {
  readonly change: ChangedDefinition;
  readonly detail: string;
  readonly runId: string;
}

/** Of the last 30 days, each definition once, as it was last seen; the longest unseen first. */
export async function pendingChanges(
  reader: Pick<StoreReader, 'serverNotices'>,
  pins: PinStore,
  nowMs: number,
): Promise<readonly PendingChange[]> {
  const found = new Map<string, PendingChange>();
  const recent = { type: 'surface', words: CHANGED, fromMs: nowMs - SEEN_MS } as const;
  for (const { line } of await reader.serverNotices({ ...recent, limit: NOTICES_MAX })) {
    const parsed = parseEventLine(line);
    if (!parsed.ok || parsed.event.type !== 'surface') continue;
    const { surface, run_id: runId } = parsed.event;
    const change = changedDefinition(parsed.event);
    if (change === undefined || isAccepted(change, pins)) continue;
    const key = JSON.stringify([change.server_name, change.tool_name]);
    if (!found.has(key)) found.set(key, { change, detail: surface.detail, runId });
  }
  return [...found.values()].toReversed();
}

export async function unacceptedChanges(
  reader: Pick<StoreReader, 'serverNotices'>,
  pins: PinStore,
  nowMs: number,
): Promise<readonly ChangedDefinition[]> {
  return (await pendingChanges(reader, pins, nowMs)).map(({ change }) => change);
}

/** What is not pinned any more was accepted as gone, or forgotten. */
function isAccepted({ server_name, tool_name, ts }: ChangedDefinition, pins: PinStore): boolean {
  const server = pins.servers.get(server_name);
  const pin = tool_name === null ? server?.instructions : server?.tools.get(tool_name);
  return pin === undefined || (pin.acceptedAtMs ?? 0) > Date.parse(ts);
}
