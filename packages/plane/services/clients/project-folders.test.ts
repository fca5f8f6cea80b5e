import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { isForProject } from './project-folders.ts';
import { clientOf } from './registry.ts';
import type { ClientId, ClientPlace } from './types.ts';

let top = '';
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'sub-project-')));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const at = (...names: readonly string[]): string => join(top, ...names);

function put(path: string, text = ''): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function projectFilesOf(
  id: ClientId,
  project: string,
  env: ClientPlace['env'] = {},
): readonly string[] {
  const place: ClientPlace = { platform: 'linux', userHome: at('home'), project, env };
  return clientOf(id)
    .files(place)
    .filter(({ scope }) => scope === 'project')
    .map(({ path }) => path);
}

describe('files of the folders above count', () => {
  test('for Claude Code wherever there are some, and the nearest comes last', () => {
    verifies('F-002');
    put(at('.mcp.json'));
    put(at('repo', '.git', 'HEAD'));
    put(at('repo', 'a', '.mcp.json'));
    expect(projectFilesOf('claude-code', at('repo', 'a', 'b'))).toEqual([
      at('.mcp.json'),
      at('repo', 'a', '.mcp.json'),
      at('repo', 'a', 'b', '.mcp.json'),
    ]);
  });

  test('for Codex up to the top of the repository', () => {
    verifies('F-002');
    put(at('.codex', 'config.toml'));
    put(at('repo', '.git', 'HEAD'));
    put(at('repo', '.codex', 'config.toml'));
    expect(projectFilesOf('codex', at('repo', 'a', 'b'))).toEqual([
      at('repo', '.codex', 'config.toml'),
      at('repo', 'a', 'b', '.codex', 'config.toml'),
    ]);
    expect(projectFilesOf('codex', at('elsewhere'))).toEqual([
      at('elsewhere', '.codex', 'config.toml'),
    ]);
  });

  test("the user's own file is not a project's, even in a home that is a repository", () => {
    put(at('home', '.git', 'HEAD'));
    put(at('home', '.codex', 'config.toml'));
    expect(projectFilesOf('codex', at('home', 'a'))).toEqual([
      at('home', 'a', '.codex', 'config.toml'),
    ]);
  });

  test('also where the project is reached through a link', () => {
    put(at('real', '.mcp.json'));
    mkdirSync(at('real', 'project'));
    symlinkSync(at('real', 'project'), at('link'));
    expect(projectFilesOf('claude-code', at('link'))).toEqual([
      at('real', '.mcp.json'),
      at('link', '.mcp.json'),
    ]);
  });
});

describe('an entry for one project counts', () => {
  test('in every folder of its repository', () => {
    put(at('repo', '.git', 'HEAD'));
    mkdirSync(at('repo', 'a'));
    expect(isForProject(at('repo', 'a'))({ project: at('repo') })).toBe(true);
    expect(isForProject(at('repo', 'a'))({ project: at('repo', 'a') })).toBe(true);
    expect(isForProject(at('repo', 'a'))({ project: top })).toBe(false);
    expect(isForProject(at('repo', 'a'))({ project: at('repo', 'b') })).toBe(false);
    expect(isForProject(at('repo', 'a'))({})).toBe(true);
  });

  test('in further worktrees of it', () => {
    mkdirSync(at('repo', '.git', 'worktrees', 'tree'), { recursive: true });
    put(at('tree', '.git'), `gitdir: ${at('repo', '.git', 'worktrees', 'tree')}\n`);
    mkdirSync(at('tree', 'a'));
    expect(isForProject(at('tree', 'a'))({ project: at('repo') })).toBe(true);
    expect(isForProject(at('tree', 'a'))({ project: at('tree') })).toBe(true);
  });

  test('in a submodule for itself', () => {
    put(at('repo', '.git', 'HEAD'));
    put(at('repo', 'mod', '.git'), 'gitdir: ../.git/modules/mod\n');
    expect(isForProject(at('repo', 'mod'))({ project: at('repo', 'mod') })).toBe(true);
    expect(isForProject(at('repo', 'mod'))({ project: at('repo') })).toBe(false);
  });

  test('by the path behind a link', () => {
    mkdirSync(at('real'));
    symlinkSync(at('real'), at('link'));
    expect(isForProject(at('link'))({ project: at('real') })).toBe(true);
  });

  test('by its name alone where there is no such folder', () => {
    expect(isForProject(at('gone'))({ project: at('gone') })).toBe(true);
    expect(isForProject(at('gone', 'a'))({ project: at('gone') })).toBe(false);
  });
});
