import { isFailure } from '@subluminal/contracts';
import type { Pin } from '@subluminal/core/surface';
import type { PinsListInput } from '../catalog/surface.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { readPins, surfaceHome } from '../surface/home.ts';
import { type PinnedServers, pinsTable, timeOf } from '../surface/pins-table.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';

export async function run({ options }: PinsListInput, io: Io): Promise<Outcome> {
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

function textOf(servers: PinnedServers, wanted: string | undefined): string {
  if (servers.length > 0) return pinsTable(servers);
  const of = wanted === undefined ? '' : ` of ${wanted}`;
  return `${harmless(`Nothing${of} is pinned yet: tools are remembered when an agent first lists them.`)}\n`;
}

function documentOf(servers: PinnedServers) {
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
