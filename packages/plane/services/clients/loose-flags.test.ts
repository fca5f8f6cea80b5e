import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../stores/config/index.ts';
import { obstacleIn } from './entries.ts';
import { looseFlags } from './shim-command.ts';

const USER = { profile: 'production', serverOnly: [], isInSession: false };
const loose = (...flags: readonly string[]) => looseFlags({ flags }, USER);

describe('an option that loosens a shim', () => {
  test.each([
    [['--profile', 'development'], ['--profile development']],
    [['--profile=development'], ['--profile=development']],
    [['--events', 'off'], ['--events off']],
    [['--events=file:/tmp/x'], ['--events=file:/tmp/x']],
    [['--policy', 'open.yaml'], ['--policy open.yaml']],
    [['--governance-endpoint', 'http://127.0.0.1:1'], ['--governance-endpoint http://127.0.0.1:1']],
    [['--server-env', 'GITHUB_ACTOR'], ['--server-env GITHUB_ACTOR']],
    [
      ['--cedar', 'x'],
      ['--cedar', 'x'],
    ],
    [['--unknown=1'], ['--unknown=1']],
    [['-p'], ['-p']],
    [
      ['--server-name', 'x', '--profile', 'production', '--profile', 'development'],
      ['--profile development'],
    ],
    [['--server-name', '--profile', 'development'], ['development']],
  ])('%j', (flags, found) => {
    expect(loose(...flags)).toEqual(found);
  });
});

test('what `sub import` writes, and what only logs, loosens nothing', () => {
  expect(
    loose('--server-name', 'x', '--profile', 'production', '--events', 'ledger', '--verbose'),
  ).toEqual([]);
  expect(loose('--server-id=x', '--log-level', 'debug', '--wrap', 'abc')).toEqual([]);
});

test('the profile that config.toml gives every shim loosens nothing', () => {
  const flags = ['--profile', 'development'];
  expect(looseFlags({ flags }, { ...USER, profile: 'development' })).toEqual([]);
});

test('the variables that the entry itself sets are its server’s alone', () => {
  const flags = ['--server-env', 'CI,GITHUB_ACTOR'];
  expect(looseFlags({ flags }, { ...USER, serverOnly: ['CI', 'GITHUB_ACTOR'] })).toEqual([]);
  expect(looseFlags({ flags }, { ...USER, serverOnly: ['CI'] })).toHaveLength(1);
});

test('a session that runs answers for policy and profile, and for nothing else', () => {
  const flags = ['--wrap', 'a', '--policy', 'p', '--profile', 'development', '--events', 'off'];
  expect(looseFlags({ flags }, { ...USER, isInSession: true })).toEqual(['--events off']);
});

test.each(Object.values(SETTINGS).map(({ env }) => env))(
  'an entry that sets %s for its shim is not governed',
  (name) => {
    expect(obstacleIn('x', { [name]: 'y' })).toContain(name);
  },
);
