import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { governCommand, readShimCommand } from './shim-command.ts';

const call = {
  program: ['/usr/bin/node', '/opt/sub/bin/sub.mjs'],
  flags: ['--profile', 'production'],
};

describe('a command becomes that of a shim', () => {
  test('with the original command behind `--`', () => {
    verifies('F-006', 'F-007');
    expect(
      governCommand({ name: 'files', words: ['npx', '-y', 'server', '--', '/tmp'] }, call),
    ).toEqual([
      '/usr/bin/node',
      '/opt/sub/bin/sub.mjs',
      'shim',
      '--server-name',
      'files',
      '--profile',
      'production',
      '--',
      'npx',
      '-y',
      'server',
      '--',
      '/tmp',
    ]);
  });

  test.each(['--', '-x', '--wrap', '--help', 'plain', 'a b', '${X}', 'shim', 'sub'])(
    'and is found again, with a server called %j',
    (name) => {
      const original = ['sub', 'shim', '--', '--wrap', 'x'];
      const [command, ...args] = governCommand(
        { name, words: original, serverOnly: ['CI', 'POD_NAME'] },
        { program: call.program, flags: ['--wrap', 'w-1'] },
      );
      expect(readShimCommand(command, args)).toMatchObject({
        program: call.program,
        serverName: name,
        serverOnly: ['CI', 'POD_NAME'],
        wrapId: 'w-1',
        command: original,
      });
    },
  );
});

describe('a command starts a shim', () => {
  test.each([
    [['sub', 'shim', '--server-name', 'a', '--', 'x']],
    [['/usr/local/bin/sub', 'shim', '--', 'x']],
    [['node', '/src/bin/sub.mjs', 'shim', '--', 'x']],
    [['node', '/src/bin/sub.cjs', 'shim', '--', 'x']],
    [['/opt/node-20/bin/node', '--max-old-space-size=64', '/src/bin/sub.mjs', 'shim', '--', 'x']],
    [['npx', '--no-install', 'sub', 'shim', '--', 'x']],
    [['npx', '--', 'sub', 'shim', '--', 'x']],
    [['npm', 'exec', '--', 'sub', 'shim', '--', 'x']],
    [['C:\\tools\\sub.cmd', 'shim', '--', 'x']],
  ])('%j', ([command, ...args]) => {
    expect(readShimCommand(command, args)?.command).toEqual(['x']);
  });

  test.each([
    [['./sub', 'shim', '--', 'x']],
    [['node', './sub.mjs', 'shim', '--', 'x']],
    [['node', 'sub.mjs', 'shim', '--', 'x']],
    [['../node', '/src/bin/sub.mjs', 'shim', '--', 'x']],
    [['tools\\sub.cmd', 'shim', '--', 'x']],
  ])('not what lies in the folder of the project and is called so: %j', ([command, ...args]) => {
    expect(readShimCommand(command, args)).toBeUndefined();
  });

  test('and need not say which server it is for', () => {
    expect(readShimCommand('sub', ['shim'])).toEqual({
      program: ['sub'],
      serverName: undefined,
      flags: [],
      wrapId: undefined,
      command: [],
    });
  });

  test('with its flags as they are written', () => {
    const args = [
      'shim',
      '--server-id=a',
      '--policy',
      'p.yaml',
      '--wrap=w1',
      '--',
      'x',
      '--wrap=w2',
    ];
    expect(readShimCommand('sub', args)).toEqual({
      program: ['sub'],
      serverName: 'a',
      flags: ['--server-id=a', '--policy', 'p.yaml', '--wrap=w1'],
      wrapId: 'w1',
      command: ['x', '--wrap=w2'],
    });
  });
});

describe('a command starts no shim', () => {
  test.each([
    [['x', '--', 'sub', 'shim']],
    [['sub', 'run', '--', 'x']],
    [['submarine', 'shim']],
    [['sub']],
    [['npx', '-y', 'server', 'sub', 'shim', '--', 'x']],
    [['node', 'evil.mjs', 'sub', 'shim', '--', 'x']],
    [['node', '--import=./evil.mjs', 'sub.mjs', 'shim', '--', 'x']],
    [['sh', '-c', 'sub shim -- x']],
    [['bash', 'sub', 'shim', '--', 'x']],
  ])('%j', ([command, ...args]) => {
    expect(readShimCommand(command, args)).toBeUndefined();
  });

  test('when there is none', () => expect(readShimCommand(undefined)).toBeUndefined());
});
