// Secrets that got a new value in the store between an import and its end.
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { rotateSecret } from '../../../stores/vault/index.ts';
import { planRestore } from './restore.ts';
import { importMoving, Machine, restoreAll } from './testing/machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.end());

function rotate(name: string, value: string): Promise<unknown> {
  const vault = { home: join(machine.folder, 'sub'), nowMs: () => Date.now() + 1_000 };
  return rotateSecret({ ...vault, keychain: null }, { name, value });
}

function tokenOf(server: number, variable: number): string {
  return `tk-7Qe2Lm9Zx4-${server}-${variable}-Rv8Bn1`;
}

interface Made {
  /** How many secrets each server has. */
  readonly counts: readonly number[];
  readonly indent: number;
}

function configOf({ counts, indent }: Made): string {
  const servers = counts.map((count, server) => {
    const env = Array.from(
      { length: count },
      (_, at) => [`V${at}_TOKEN`, tokenOf(server, at)] as const,
    );
    return [`s${server}`, { command: 'x', env: Object.fromEntries(env) }] as const;
  });
  return `${JSON.stringify({ mcpServers: Object.fromEntries(servers), last: 1 }, null, indent)}\n`;
}

test('a config with rotated secrets comes back to the byte but for their values', async () => {
  verifies('SL-13');
  const made = fc.record({
    counts: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
    indent: fc.constantFrom(0, 2),
  });
  const lengths = fc.array(fc.option(fc.integer({ min: 8, max: 60 })), { maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(made, lengths, async (config, wanted) => {
      machine.end();
      machine = new Machine();
      let text = machine.write(configOf(config));
      await importMoving(machine.options());
      const all = config.counts.flatMap((count, server) =>
        Array.from({ length: count }, (_, at) => ({ server, at })),
      );
      for (const [index, { server, at }] of all.entries()) {
        const length = wanted[index] ?? undefined;
        if (length === undefined) continue;
        const value = 'n'.repeat(length);
        await rotate(`claude-code.s${server}.V${at}_TOKEN`, value);
        text = text.replace(tokenOf(server, at), value);
      }
      expect(await restoreAll(machine.options())).toEqual([]);
      expect(machine.read()).toBe(text);
    }),
    { numRuns: 12 },
  );
}, 60_000);

test('a longer value of a secret that a later import moved comes back', async () => {
  machine.write(configOf({ counts: [0, 1], indent: 0 }));
  await importMoving(machine.options());
  machine.write(machine.read().replace('"env":{}', `"env":{"V0_TOKEN":"${tokenOf(0, 0)}"}`));
  await importMoving(machine.options());
  const value = 'n'.repeat(60);
  await rotate('claude-code.s0.V0_TOKEN', value);
  expect(await restoreAll(machine.options())).toEqual([]);
  expect(JSON.parse(machine.read())).toEqual({
    mcpServers: {
      s0: { command: 'x', env: { V0_TOKEN: value } },
      s1: { command: 'x', env: { V0_TOKEN: tokenOf(1, 0) } },
    },
    last: 1,
  });
});

test('a rotated secret is reported also after another import', async () => {
  machine.write(configOf({ counts: [1], indent: 2 }));
  await importMoving(machine.options());
  // In the same millisecond as the import, it would not be newer.
  const nowMs = () => Date.now() + 1;
  const vault = { home: join(machine.folder, 'sub'), nowMs, keychain: null };
  await rotateSecret(vault, { name: 'claude-code.s0.V0_TOKEN', value: 'n'.repeat(20) });
  const more = `"more": { "command": "y", "env": { "V_TOKEN": "${tokenOf(7, 7)}" } },`;
  machine.write(machine.read().replace('"mcpServers": {', `$&${more}`));
  await importMoving(machine.options());
  const plan = await planRestore({ ...machine.options(), isProjectOnly: false });
  expect(plan).toMatchObject({ files: [{ rotated: ['claude-code.s0.V0_TOKEN'] }] });
});
