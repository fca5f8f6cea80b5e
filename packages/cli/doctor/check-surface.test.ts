import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkManifests, checkPins } from './check-policies.ts';
import { machineIn, put } from './machine.test-support.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-doctor-surface-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const manifest = (name: string, text: string) =>
  put(join(folder, 'home', 'manifests', `${name}.yaml`), text);

describe('manifests', () => {
  const look = async () => checkManifests(await machineIn(folder));

  test('valid manifests are counted, and there may be none', async () => {
    expect(await look()).toMatchObject({ level: 'ok' });
    manifest('gmail', 'server: gmail\n');
    const { level, text } = await look();
    expect({ level, text }).toEqual({
      level: 'ok',
      text: `1 manifest in ${folder}/home/manifests`,
    });
  });

  test('unusable manifests are broken, each with its position', async () => {
    manifest('gmail', 'server: gmail\nalowed_tools: []\n');
    chmodSync(manifest('mail', 'server: mail\n'), 0o666);
    const { level, more = [] } = await look();
    expect(level).toBe('broken');
    expect(more.join('\n')).toMatch(/gmail\.yaml:2:1: error: .*\[SUB_MANIFEST_FIELD\]/);
    expect(more.join('\n')).toContain('[SUB_MANIFEST_UNSAFE]');
  });
});

describe('pins', () => {
  const look = async (env = {}) => checkPins(await machineIn(folder, env));

  test('pins are ok when there are none, a warning when unused, and broken when damaged', async () => {
    expect(await look()).toMatchObject({ level: 'ok', text: '0 tools of 0 servers' });
    expect(await look({ SUB_PINS_MODE: 'off' })).toMatchObject({ level: 'warn' });
    put(join(folder, 'home', 'pins.json'), '{}');
    const { level, fix } = await look();
    expect(level).toBe('broken');
    expect(fix).toContain('sub pins reset');
  });
});
