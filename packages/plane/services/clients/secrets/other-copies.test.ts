import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { realPath } from '../../../os/index.ts';
import { clientOf } from '../index.ts';
import { clientPlace } from '../inspect/adoption-place.ts';
import { findConfigs } from '../inspect/find-configs.ts';
import { CONFIG_BYTES_MAX } from '../store/config-file.ts';
import { findCopies, isCopyName } from './other-copies.ts';

test.each([
  'mcp.json~',
  'mcp.json.bak',
  'mcp.json.bak2',
  'mcp.json.BAK',
  'mcp.json.old',
  'mcp.json.orig',
  'mcp.json_original',
  'mcp.json.backup',
  'mcp.json.backup.1719830000000',
  'mcp.json-backup-2026-11-17T08:20:00Z',
  'mcp.json.corrupted.1719830000000',
  'mcp.json.tmp.4711',
  'mcp.json.1',
  'mcp.json.~1~',
  'mcp.json.20261117',
  'mcp.json.2026-11-17',
  '.mcp.json.swp',
  '.mcp.json.swo',
])('%s is the name of a copy of mcp.json', (name) => {
  expect(isCopyName(name, 'mcp.json')).toBe(true);
});

test.each([
  'mcp.json',
  'my-mcp.json',
  'work.mcp.json',
  'old-mcp.json.bak',
  'mcp.json5',
  'mcp.jsonc',
  'mcp.json.work',
  'mcp.json.template',
  'mcp.json.oldest-that-works',
  'mcp.json.1password',
  'mcp.json.enc',
  '.mcp.json',
  '.mcp.json.bak',
  '.mcp.json.swift',
])('%s is not the name of a copy of mcp.json', (name) => {
  expect(isCopyName(name, 'mcp.json')).toBe(false);
});

test('the swap file of a hidden file has one dot', () => {
  expect(isCopyName('.claude.json.swp', '.claude.json')).toBe(true);
  expect(isCopyName('..claude.json.swp', '.claude.json')).toBe(false);
});

test('a copy may be as large as a config', () => {
  const folder = realPath(mkdtempSync(join(tmpdir(), 'sub-copies-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const where = { env: { HOME: folder }, project: folder };
  const client = clientOf('custom');
  const config = join(folder, 'agent.json');
  writeFileSync(config, '{"mcpServers":{}}');
  const text = '"made-up-value"';
  writeFileSync(`${config}.bak`, text + ' '.repeat(CONFIG_BYTES_MAX - text.length));
  const place = clientPlace(where);
  const { found } = findConfigs({ place, clients: [client], configPath: config });
  const moves = [{ value: () => 'made-up-value' }];
  const changed = found.map((one) => ({ client, found: one, moves }));
  expect(findCopies(changed, where)).toEqual({ paths: [`${config}.bak`], isWhole: true });
});
