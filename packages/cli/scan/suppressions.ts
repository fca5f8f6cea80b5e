// Ready-made suppressions: one value of one rule on one tool, for a while.

import { type Failure, failure } from '@subluminal/contracts';
import { type Finding, readSuppression, type Suppression } from '@subluminal/core/detect';
import { harmlessJson } from '@subluminal/core/visible';
import type { Place } from './policy.ts';

const DAY_MS = 86_400_000;
const DAYS = 90;

/** One for each value and rule, whatever the number of places. */
export function suppressionsFor(
  findings: readonly Finding[],
  place: Place,
  nowMs: number,
): readonly Suppression[] {
  const expires = new Date(nowMs + DAYS * DAY_MS).toISOString().replace(/\.\d+Z$/, 'Z');
  const found = new Map<string, Suppression>();
  for (const { rule, fingerprint } of findings) {
    const { server, tool } = place;
    found.set(`${rule} ${fingerprint}`, { rule, server, tool, fingerprint, expires });
  }
  return [...found.values()];
}

/** Names that a suppression takes: whole ones. */
export function readPlace(options: {
  readonly server: string | undefined;
  readonly tool: string | undefined;
}): Place | Failure | undefined {
  const { server, tool } = options;
  if (server === undefined && tool === undefined) return undefined;
  if (server === undefined || tool === undefined) {
    const message = `--${server === undefined ? 'tool' : 'server'} is given without --${server === undefined ? 'server' : 'tool'}.`;
    return failure('SUB_USAGE', message, 'A suppression is for one tool of one server: name both.');
  }
  const read = readSuppression({ rule: 'odd-name', server, tool, ...ANY });
  if (read.kind === 'suppression') return { server, tool };
  const message = 'the names of the server and the tool cannot stand in a suppression.';
  return failure('SUB_USAGE', message, 'Give whole names, without `*` and `?`.');
}

const ANY = { fingerprint: '0', expires: '2030-01-01T00:00:00Z' } as const;

/** As a policy has it; JSON strings are YAML, whatever a name is made of. */
export function suppressionsYaml(suppressions: readonly Suppression[]): string {
  const lines = suppressions.map((one) => {
    const fields = Object.entries(one).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    return `    - { ${fields.join(', ')} }\n`;
  });
  return harmlessJson(`content:\n  suppressions:\n${lines.join('')}`);
}
