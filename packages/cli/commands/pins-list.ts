import type { Pin, PinStore } from '@subluminal/core/surface';
import type { PinsListInput } from '../catalog/surface.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { isFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { tableText } from '../ledger/table.ts';
import { readPins, surfaceHome } from '../surface/home.ts';
import { harmless, jsonText } from '../text.ts';

const HASH_SHOWN = 12;
const COLUMNS = [
  { title: 'SERVER' },
  { title: 'TOOL', lengthMax: 60 },
  { title: 'HASH' },
  { title: 'FIRST SEEN' },
  { title: 'ACCEPTED' },
];

async function run({ options }: PinsListInput, io: Io): Promise<Outcome> {
  const home = await surfaceHome();
  if (isFailure(home)) return home;
  const pins = readPins(home.paths);
  if (isFailure(pins)) return pins;
  const wanted = options.server;
  const servers = [...pins.store.servers].filter(
    ([server]) => wanted === undefined || server === wanted,
  );
  io.out.write(options.json ? jsonText(documentOf(servers)) : textOf(servers, wanted));
  return done(EXIT.fine);
}

type Servers = readonly (readonly [
  string,
  PinStore['servers'] extends ReadonlyMap<string, infer S> ? S : never,
])[];

function textOf(servers: Servers, wanted: string | undefined): string {
  if (servers.length === 0) {
    const of = wanted === undefined ? '' : ` of ${wanted}`;
    return `${harmless(`Nothing${of} is pinned yet: tools are remembered when an agent first lists them.`)}\n`;
  }
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
function timeOf(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}

function documentOf(servers: Servers) {
  const pinOf = ({ hash, seenAtMs, acceptedAtMs }: Pin) => ({
    hash,
    seen_at: timeOf(seenAtMs),
    accepted_at: acceptedAtMs === null ? null : timeOf(acceptedAtMs),
  });
  return {
    servers: servers.map(([server, { instructions, tools }]) => ({
      server,
      instructions: instructions === undefined ? null : pinOf(instructions),
      tools: [...tools].map(([name, pin]) => ({ name, ...pinOf(pin) })),
    })),
  };
}

export { run };
