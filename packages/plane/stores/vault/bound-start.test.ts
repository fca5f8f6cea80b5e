// The program and the files that a secret is bound to: what else the same words could start.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BoundStart, fitsStart, type StartedServer } from './bound-command.ts';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'sub-start-')));
  program('bin/hub');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, mode = 0o644): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, '');
  chmodSync(whole, mode);
  return whole;
}

const program = (path: string) => put(path, 0o755);

/** Started in the folder of a project, with the user's own PATH. */
function started(words: readonly string[], more: Partial<StartedServer> = {}): StartedServer {
  mkdirSync(join(folder, 'repo'), { recursive: true });
  return { words, cwd: join(folder, 'repo'), path: join(folder, 'bin'), ...more };
}

function faultOf(bound: BoundStart, start: StartedServer): string {
  const fit = fitsStart(bound, start);
  return typeof fit === 'string' ? fit : `${fit.message}. ${fit.fix}`;
}

describe('a bound program', () => {
  const bound = () => ({ command: ['hub', '-x'], program: join(folder, 'bin', 'hub') });

  test('fits where the words start it', () => {
    expect(faultOf(bound(), started(['hub', '-x']))).toBe('fits');
    expect(faultOf(bound(), started(['hub']))).toBe('other');
  });

  test('does not fit where PATH leads to another one', () => {
    const evil = program('repo/bin/hub');
    const path = `${join(folder, 'repo', 'bin')}:${join(folder, 'bin')}`;
    const fault = faultOf(bound(), started(['hub', '-x'], { path }));
    expect(fault).toContain(`it is bound to the program ${join(folder, 'bin', 'hub')}`);
    expect(fault).toContain(evil);
    expect(fault).toContain('Run `command -v hub` in a terminal of yours');
    expect(faultOf(bound(), started(['hub', '-x'], { path: `.:${path}` }))).toContain('starts');
  });

  test('does not fit a relative PATH that finds one in the folder', () => {
    program('repo/hub');
    const path = `.:${join(folder, 'bin')}`;
    expect(faultOf(bound(), started(['hub', '-x'], { path }))).toContain('repo/hub');
  });

  test('fits after an upgrade: another file at the same place, or behind the same link', () => {
    const link = join(folder, 'bin', 'tool');
    symlinkSync(program('lib/tool-1/tool'), link);
    const tool = { command: ['tool'], program: link };
    expect(faultOf(tool, started(['tool']))).toBe('fits');
    rmSync(link);
    symlinkSync(program('lib/tool-2/tool'), link);
    expect(faultOf(tool, started(['tool']))).toBe('fits');
  });

  test('does not fit when others can write to it, or when it is gone', () => {
    chmodSync(join(folder, 'bin', 'hub'), 0o777);
    expect(faultOf(bound(), started(['hub', '-x']))).toContain('can be written to by others');
    rmSync(join(folder, 'bin', 'hub'));
    program('repo/hub');
    expect(faultOf(bound(), started(['hub', '-x'], { path: '.' }))).toContain('which is gone');
  });
});

describe('a binding by words alone', () => {
  test('fits a whole path', () => {
    const hub = join(folder, 'bin', 'hub');
    expect(faultOf({ command: [hub] }, started([hub]))).toBe('fits');
  });

  test('fits a name that leads where it always does', () => {
    const node = basename(process.execPath);
    const start = started([node, '--version'], { path: dirname(process.execPath) });
    expect(faultOf({ command: [node, '--version'] }, start)).toBe('fits');
    program(`repo/${node}`);
    expect(faultOf({ command: [node, '--version'] }, { ...start, path: '.' })).toContain(
      `it is bound to the word \`${node}\` alone`,
    );
  });

  test.each([['hub'], ['./hub'], ['../bin/hub']])(
    'does not fit %s, which may be any program',
    (word) => {
      program('repo/hub');
      const fault = faultOf({ command: [word] }, started([word]));
      expect(fault).toContain('which may be any program');
      expect(fault).toContain(`command -v ${word}`);
    },
  );

  test('does not fit a program that a variable chooses', () => {
    const any = ['$', '{HOME}/bin/hub'].join('');
    program('repo/bin/hub');
    const fault = faultOf({ command: [any] }, started([join(folder, 'repo', 'bin', 'hub')]));
    expect(fault).toContain('which may be any program');
  });
});

describe('a script', () => {
  const hub = () => ({ program: join(folder, 'bin', 'node') });
  beforeEach(() => {
    program('bin/node');
    program('bin/python3');
    program('bin/npx');
  });

  test('by a relative name is another one in another folder', () => {
    const mine = put('mine/server.js');
    const bound = { ...hub(), command: ['node', 'server.js'], files: [mine] };
    expect(faultOf(bound, started(['node', 'server.js'], { cwd: join(folder, 'mine') }))).toBe(
      'fits',
    );
    put('repo/server.js');
    expect(faultOf(bound, started(['node', 'server.js']))).toContain('repo/server.js');
    expect(faultOf({ ...bound, files: [] }, started(['node', 'server.js']))).toContain(
      'no such file',
    );
  });

  test('by its whole path is bound by that', () => {
    const mine = put('mine/server.js');
    expect(faultOf({ ...hub(), command: ['node', mine] }, started(['node', mine]))).toBe('fits');
  });

  test.each(['--require=./x.js', './x.js'])('that an option or a word names counts: %s', (word) => {
    put('repo/x.js');
    const server = put('mine/server.js');
    const words = ['node', word, server];
    expect(faultOf({ ...hub(), command: words }, started(words))).toContain('repo/x.js');
  });

  test('may be a folder for an interpreter', () => {
    mkdirSync(join(folder, 'repo', 'dist'), { recursive: true });
    put('repo/short.js');
    for (const word of ['.', 'dist', 'short']) {
      const words = ['node', word];
      expect(faultOf({ ...hub(), command: words }, started(words))).toContain(
        'depends on the folder',
      );
    }
  });

  test('in the place of a variable must be listed', () => {
    const any = ['$', '{workspaceFolder}/server.js'].join('');
    const mine = put('mine/server.js');
    const bound = { ...hub(), command: ['node', any], files: [mine] };
    expect(faultOf(bound, started(['node', mine]))).toBe('fits');
    expect(faultOf(bound, started(['node', put('repo/server.js')]))).toContain('repo/server.js');
  });

  test('that others can write to is not given anything', () => {
    const mine = put('mine/server.js', 0o666);
    const bound = { ...hub(), command: ['node', 'server.js'], files: [mine] };
    const start = started(['node', 'server.js'], { cwd: join(folder, 'mine') });
    expect(faultOf(bound, start)).toContain('can be written to by others');
  });

  test('data that names no file, and folders for other programs, are words', () => {
    mkdirSync(join(folder, 'repo', 'src'), { recursive: true });
    const bound = { command: ['hub', 'stdio', 'src', '.'], program: join(folder, 'bin', 'hub') };
    expect(faultOf(bound, started(bound.command))).toBe('fits');
  });

  test('a package or a module of the folder does not get what is for that of the user', () => {
    const npx = { command: ['npx', '-y', '@hub/mcp@1'], program: join(folder, 'bin', 'npx') };
    expect(faultOf(npx, started(npx.command))).toBe('fits');
    put('repo/node_modules/@hub/mcp/package.json');
    expect(faultOf(npx, started(npx.command))).toContain('node_modules/@hub/mcp');
    const by = { command: ['npx', '-p', '@hub/mcp', 'run-it'], program: npx.program };
    expect(faultOf(by, started(by.command, { cwd: join(folder, 'repo', 'deep') }))).toContain(
      'npx would run',
    );
    const python = {
      command: ['python3', '-m', 'hub.mcp'],
      program: join(folder, 'bin', 'python3'),
    };
    expect(faultOf(python, started(python.command))).toBe('fits');
    put('repo/hub.py');
    expect(faultOf(python, started(python.command))).toContain('repo/hub.py');
  });
});
