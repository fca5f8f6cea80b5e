// What servers have changed since it was pinned, and what no person has accepted yet, by the ledger.
import { parseEventLine } from '@subluminal/contracts';
import type { PinStore } from '@subluminal/core/surface';
import type { StoreReader } from '../sqlite/sqlite-store.ts';
import { eventPages } from '../store/stored-rows.ts';
import type { ChangedDefinition } from './run-summary.ts';
import { changedDefinition } from './summary.ts';

const RUNS_MAX = 50;
const SEEN_MS = 30 * 24 * 60 * 60_000;

/** Of the newest runs, each definition once, as it was last seen. */
export async function unacceptedChanges(
  reader: StoreReader,
  pins: PinStore,
  nowMs: number,
): Promise<readonly ChangedDefinition[]> {
  const found = new Map<string, ChangedDefinition>();
  const { rows } = await reader.runs({ fromMs: nowMs - SEEN_MS }, { limit: RUNS_MAX });
  for (const { run_id: runId } of rows.toReversed()) {
    for await (const page of eventPages(reader, { runId, type: 'surface' })) {
      for (const { line } of page) {
        const parsed = parseEventLine(line ?? '');
        if (!parsed.ok || parsed.event.type !== 'surface') continue;
        const change = changedDefinition(parsed.event);
        if (change === undefined || isAccepted(change, pins)) continue;
        found.set(JSON.stringify([change.server_name, change.tool_name]), change);
      }
    }
  }
  return [...found.values()];
}

/** What is not pinned any more was accepted as gone, or forgotten. */
function isAccepted({ server_name, tool_name, ts }: ChangedDefinition, pins: PinStore): boolean {
  const server = pins.servers.get(server_name);
  const pin = tool_name === null ? server?.instructions : server?.tools.get(tool_name);
  return pin === undefined || (pin.acceptedAtMs ?? 0) > Date.parse(ts);
}
