import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { linkOutOfProject } from './project-links.ts';
import type { ConfigFile } from './types.ts';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'sub-links-')));
  for (const name of ['project/.vscode', 'project/inner/.vscode', 'project/shared', 'elsewhere']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  for (const name of ['project/shared', 'elsewhere']) {
    writeFileSync(join(folder, name, 'mcp.json'), '{}');
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What is said of a config that is there under this name. */
function said(name: string, scope: ConfigFile['scope'] = 'project'): string | undefined {
  const path = join(folder, name);
  const file = { client: 'vscode', scope, path, format: 'jsonc' } as const;
  return linkOutOfProject(file, realpathSync(path))?.message;
}

function link(name: string, target: string): string {
  symlinkSync(join(folder, target), join(folder, name));
  return name;
}

test('a config of a project may lead to another file of it', () => {
  expect(said('project/shared/mcp.json')).toBeUndefined();
  expect(said(link('project/.vscode/mcp.json', 'project/shared/mcp.json'))).toBeUndefined();
});

test('a config of a project that leads out of it is left alone', () => {
  const name = link('project/.vscode/mcp.json', 'elsewhere/mcp.json');
  expect(said(name)).toContain(`leads out of it: to ${join(folder, 'elsewhere', 'mcp.json')}`);
  expect(said(link('project/.mcp.json', 'elsewhere/mcp.json'))).toBeDefined();
});

test('a config of a project whose folder leads out of it is left alone', () => {
  rmSync(join(folder, 'project', '.vscode'), { recursive: true });
  link('project/.vscode', 'elsewhere');
  expect(said('project/.vscode/mcp.json')).toBeDefined();
});

test('a project is the whole of its repository', () => {
  const name = link('project/inner/.vscode/mcp.json', 'project/shared/mcp.json');
  expect(said(name)).toBeDefined();
  mkdirSync(join(folder, 'project', '.git'));
  expect(said(name)).toBeUndefined();
});

test('a project that is itself reached by a link leads nowhere by that', () => {
  link('same', 'project');
  writeFileSync(join(folder, 'project', '.mcp.json'), '{}');
  expect(said('same/.mcp.json')).toBeUndefined();
});

test('a config of the user may lead anywhere', () => {
  expect(said(link('project/.vscode/mcp.json', 'elsewhere/mcp.json'), 'user')).toBeUndefined();
});
