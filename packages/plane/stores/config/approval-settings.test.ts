import { describe, expect, test } from 'vitest';
import { readApprovals } from './approval-settings.ts';
import { configFailures } from './table-reader.ts';

const WEBHOOK = { url: 'https://hooks.example.com/x', secret: 'env://HOOK_SECRET' };
const SLACK = {
  token: 'env://SLACK_TOKEN',
  signing_secret: 'file://slack-signing',
  channel: 'C0123456789',
  users: ['U0123456789'],
};

describe('the settings of approvals', () => {
  test('are optional', () => {
    const none = { keepDays: 30, listen: null, desktop: null, webhook: null, slack: null };
    expect(readApprovals({})).toEqual({ settings: none, faults: [] });
    expect(readApprovals({ desktop: { enabled: false } })).toEqual({ settings: none, faults: [] });
  });

  test('name each channel with what it needs', () => {
    const value = { keep_days: 7, desktop: {}, webhook: WEBHOOK, slack: SLACK };
    expect(readApprovals(value)).toEqual({
      faults: [],
      settings: {
        keepDays: 7,
        listen: null,
        desktop: { perMinuteMax: 6 },
        webhook: {
          url: WEBHOOK.url,
          secretRef: WEBHOOK.secret,
          timeoutMs: 10_000,
          attemptsMax: 6,
          backoffMs: 1_000,
        },
        slack: {
          tokenRef: SLACK.token,
          signingSecretRef: SLACK.signing_secret,
          channel: SLACK.channel,
          users: SLACK.users,
          pollMs: 5_000,
          timeoutMs: 10_000,
          apiUrl: undefined,
        },
      },
    });
  });

  test.each([
    ['a table that is none', 3, [[]]],
    ['an unknown key', { kep_days: 7 }, [['kep_days']]],
    ['an unknown channel', { pager: {} }, [['pager']]],
    ['a number out of range', { keep_days: 0 }, [['keep_days']]],
    ['a channel that is no table', { slack: true }, [['slack']]],
    [
      'an address in the open',
      { webhook: { ...WEBHOOK, url: 'http://example.com' } },
      [['webhook', 'url']],
    ],
    [
      'http on another address of 127.0.0.0/8',
      { webhook: { ...WEBHOOK, url: 'http://127.0.0.2:8080/hook' } },
      [['webhook', 'url']],
    ],
    [
      'an address with a password',
      { webhook: { ...WEBHOOK, url: 'https://a:b@example.com' } },
      [['webhook', 'url']],
    ],
    ['nobody who may decide', { slack: { ...SLACK, users: [] } }, [['slack', 'users']]],
    ['a user by name', { slack: { ...SLACK, users: ['@ann'] } }, [['slack', 'users']]],
  ])('refuse %s', (_what, value, paths) => {
    const found = readApprovals(value).faults.map(({ path }) => path);
    expect(found).toEqual(paths.map((path) => ['approvals', ...path]));
  });

  test.each([
    ['127.0.0.1:8790', { host: '127.0.0.1', port: 8_790 }],
    ['localhost:0', { host: '127.0.0.1', port: 0 }],
    ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
    ['[::1]:8790', { host: '::1', port: 8_790 }],
  ])('take answers at %s', (listen, expected) => {
    expect(readApprovals({ listen })).toMatchObject({ faults: [], settings: { listen: expected } });
  });

  test.each(['8790', '127.0.0.1', 'example.com:1', '127.0.0.1:65536', '1.2.3:4', '[::g]:1', ''])(
    'do not take answers at %j',
    (listen) => {
      expect(readApprovals({ listen }).faults).toHaveLength(1);
    },
  );

  test('do not take a list for an address', () => {
    expect(readApprovals({ listen: ['0.0.0.0:8790'] }).faults).toHaveLength(1);
  });

  test('suggest what was probably meant', async () => {
    const { faults } = readApprovals({ webhook: { ...WEBHOOK, atempts: 3 } });
    const failures = await configFailures(faults, () => 'here');
    expect(failures).toMatchObject([{ fix: 'Did you mean `attempts`?' }]);
  });

  test.each(['127.0.0.1', '[::1]', 'localhost'])('take http on this machine: %s', (host) => {
    const url = `http://${host}:8080/hook`;
    expect(readApprovals({ webhook: { ...WEBHOOK, url } }).faults).toEqual([]);
  });

  test.each([
    [
      'a variable of the server',
      'env://PATH',
      'is a variable that says how the server runs',
      'Name a variable that holds a secret.',
    ],
    [
      'an unknown scheme',
      'aws://x',
      'has no known scheme',
      'Write one of env://, file://, keychain://, sub://, vault://, op://.',
    ],
  ])('say what is wrong with %s as a reference', (_what, secret, message, fix) => {
    const { faults } = readApprovals({ webhook: { ...WEBHOOK, secret } });
    expect(faults).toMatchObject([{ message: `\`approvals.webhook.secret\` ${message}`, fix }]);
  });

  test.each([
    ['a blank', 'keychain://my service/me'],
    ['a control character', 'file:///run/a\u0007b'],
    ['more than 1,000 characters', `file:///${'x'.repeat(1_000)}`],
  ])('take no reference with %s', (_what, secret) => {
    const { faults } = readApprovals({ webhook: { ...WEBHOOK, secret } });
    const message = expect.stringContaining('is not a reference to a secret') as unknown;
    expect(faults).toMatchObject([{ message }]);
  });

  test('never show a secret that was written in place of its name', () => {
    const read = readApprovals({ slack: { ...SLACK, token: 'xoxb-very-secret' } });
    expect(read).toMatchObject({ faults: [{ path: ['approvals', 'slack', 'token'] }] });
    expect(JSON.stringify(read)).not.toContain('very-secret');
  });
});
