import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutput, openForAppending, refuseLink, replaceOutput } from './output-file.ts';

let folder = '';
const at = (name: string) => join(folder, name);
const content = (name: string) => readFileSync(at(name), 'utf8');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-output-'));
  writeFileSync(at('victim'), 'precious');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('an output file', () => {
  it.each([
    ['a file', () => at('victim')],
    ['nothing', () => at('nowhere')],
    ['a folder', () => folder],
    ['a device', () => '/dev/null'],
    ['another link', () => at('second')],
  ])('is not written through a link to %s', async (_, target) => {
    symlinkSync(at('victim'), at('second'));
    symlinkSync(target(), at('link'));
    await expect(replaceOutput(at('link'), 'evil')).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(createOutput(at('link'), 'evil', 0o600)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(() => openForAppending(at('link'), 0o600)).toThrow('ELOOP');
    expect(() => refuseLink(at('link'))).toThrow('ELOOP');
    expect(() => refuseLink(`${at('link')}/`)).toThrow('ELOOP');
    expect(content('victim')).toBe('precious');
    expect(existsSync(at('nowhere'))).toBe(false);
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder).toSorted()).toEqual(['link', 'second', 'victim']);
  });

  it('is replaced whole, with its permissions, and leaves nothing behind', async () => {
    writeFileSync(at('out'), 'old', { mode: 0o640 });
    await replaceOutput(at('out'), 'new');
    expect(content('out')).toBe('new');
    expect(statSync(at('out')).mode & 0o777).toBe(0o640);
    await replaceOutput(at('private'), 'new', { mode: 0o600 });
    expect(statSync(at('private')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(['out', 'private', 'victim']);
  });

  it('may be in a folder that a link leads to', async () => {
    mkdirSync(at('real'));
    symlinkSync(at('real'), at('folder'));
    await replaceOutput(join(at('folder'), 'out'), 'new');
    expect(content('real/out')).toBe('new');
  });

  it('is appended to', () => {
    const fd = openForAppending(at('victim'), 0o600);
    writeSync(fd, '!');
    closeSync(fd);
    expect(content('victim')).toBe('precious!');
  });

  it.skipIf(process.platform === 'win32')('may be a device, or a stream that is open', async () => {
    await replaceOutput('/dev/null', 'text');
    const program = join(import.meta.dirname, 'output-file.ts');
    const script = `import { replaceOutput, openForAppending } from ${JSON.stringify(program)};
      import { writeSync } from 'node:fs';
      await replaceOutput('/dev/stdout', 'out ');
      writeSync(openForAppending('/dev/stderr', 0o600), 'err');`;
    writeFileSync(at('run.mts'), script);
    const runner = join(import.meta.dirname, '../../../tools/run.mjs');
    // Through pipes of a shell: those that Node makes are sockets, which no path leads to.
    const command = '"$0" "$1" "$2" 2>"$3" | cat';
    const args = ['-c', command, process.execPath, runner, at('run.mts'), at('errors')];
    const { stdout } = spawnSync('sh', args, { encoding: 'utf8' });
    expect(stdout).toBe('out ');
    expect(content('errors')).toBe('err');
  });
});
