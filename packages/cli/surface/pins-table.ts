// Pins as a table.
import type { Pin, ServerPins } from '@subluminal/core/surface';
import { tableText } from '../terminal/table.ts';

export type PinnedServers = readonly (readonly [string, ServerPins])[];

const HASH_SHOWN = 12;
const COLUMNS = [
  { title: 'SERVER' },
  { title: 'TOOL', lengthMax: 60 },
  { title: 'HASH' },
  { title: 'FIRST SEEN' },
  { title: 'ACCEPTED' },
];

export function pinsTable(servers: PinnedServers): string {
  const rows = servers.flatMap(([server, { instructions, tools }]) => [
    ...(instructions === undefined ? [] : [rowOf(server, '(instructions)', instructions)]),
    ...[...tools].map(([name, pin]) => rowOf(server, name, pin)),
  ]);
  return tableText(COLUMNS, rows, (line) => line);
}

function rowOf(server: string, name: string, { hash, seenAtMs, acceptedAtMs }: Pin) {
  const accepted = acceptedAtMs === null ? null : dayOf(acceptedAtMs);
  return [server, name, hash.slice(0, HASH_SHOWN), dayOf(seenAtMs), accepted];
}

function dayOf(timeMs: number): string {
  return timeOf(timeMs).slice(0, 16).replace('T', ' ');
}

/** A time that no calendar has was not written by us; it is told, not thrown. */
export function timeOf(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}
