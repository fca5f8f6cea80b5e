import { describe, expect, it } from 'vitest';
import { outlineCommand } from './outline.ts';

function names(line: string): readonly string[] {
  return outlineCommand(line).programs.map(({ name }) => name);
}

describe('outlineCommand', () => {
  it('lists programs with their arguments and options', () => {
    expect(outlineCommand('/usr/bin/git log -n 3 --oneline').programs).toEqual([
      {
        name: 'git',
        path: '/usr/bin/git',
        args: ['log', '-n', '3', '--oneline'],
        flags: ['-n', '--oneline'],
      },
    ]);
  });

  it.each([
    'git status',
    'npm test',
    'ls -la | grep foo',
    'FOO=bar make -j4',
    'for f in *.ts; do echo $f; done',
    'git commit -m "$(cat <<\'EOF\'\nfix: read .env\nEOF\n)"',
  ])('understands all of a plain command: %s', (line) => {
    expect(outlineCommand(line).opaque).toEqual([]);
  });

  it('reads the scripts of shells, wrappers and functions', () => {
    expect(names('sudo env A=b sh -c "f() { rm x; }; f" | tee log')).toEqual([
      'sudo',
      'env',
      'sh',
      'rm',
      'tee',
    ]);
  });

  it.each(['rg --pre rm x', 'sort --compress-program=rm x', 'git fetch --upload-pack=rm .'])(
    'lists a program that an option names: %s',
    (line) => {
      expect(names(line)).toContain('rm');
    },
  );

  it('knows the files whose history is shown', () => {
    expect(outlineCommand('git log -p -- .env').reads).toEqual(['.env']);
  });

  it('follows cd', () => {
    expect(outlineCommand('cd src && rm x').writes).toEqual(['src/x']);
    expect(outlineCommand('cd src; rm x').writes).toEqual(['src/x', 'x']);
    expect(outlineCommand('cd src || exit 1; rm x').writes).toEqual(['src/x']);
    expect(outlineCommand('(cd src && rm x); rm y').writes).toEqual(['src/x', 'y']);
  });
});
