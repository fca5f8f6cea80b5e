import type { Pin } from '@subluminal/core/surface';
import { defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { type PinnedServers, pinsTable, timeOf } from '../surface/pins-report.ts';
import { openPinHome } from '../surface/surface-home.ts';
import { harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Lists every pinned tool: the hash of its definition, when it was first seen, and when a person accepted it. `sub pins` alone does the same.',
  options: { server: textOption('name', 'Only pins of this server') },
  examples: ['sub pins list', 'sub pins --server github', 'sub pins list --json'],
  exitCodes: { 0: 'the pins are listed', 2: 'wrong flags, or pins that cannot be read' },
  run: async ({ options }) => {
    const pins = orThrow(await openPinHome());
    const wanted = options.server;
    const servers = [...pins.store.servers].filter(
      ([server]) => wanted === undefined || server === wanted,
    );
    return printout(documentOf(servers), textOf(servers, wanted));
  },
});

function textOf(servers: PinnedServers, wanted: string | undefined): string {
  if (servers.length > 0) return pinsTable(servers);
  const of = wanted === undefined ? '' : ` of ${wanted}`;
  return harmlessLine(
    `Nothing${of} is pinned yet: tools are remembered when an agent first lists them.`,
  );
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
