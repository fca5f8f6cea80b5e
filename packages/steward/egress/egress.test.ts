import type { JsonObject } from '@subluminal/contracts';
import { createRedactor } from '@subluminal/core/scan';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import {
  type EgressLimits,
  type EgressQuestion,
  judgeEgress,
  replyFor,
  type SentMessage,
  sentMessage,
} from './index.ts';

const LIMITS: EgressLimits = {
  messages_per_hour: 5,
  messages_per_day: 10,
  new_recipients_per_day: 3,
  body_chars: 20_000,
};
const CONTACTS = [
  {
    name: 'Kristen Berg',
    emails: ['kristen@example.com'],
    handles: ['@kberg', '+49 151 23456789'],
  },
  { name: 'Work', emails: ['*@corp.example'], handles: ['#team'] },
];
const NOW = 1_800_000_000_000;

function question(call: Partial<EgressQuestion>): EgressQuestion {
  return {
    server: 'email',
    tool: 'send',
    args: {},
    userWords: [],
    contacts: CONTACTS,
    hosts: ['docs.example.net', '*.wiki.example'],
    limits: LIMITS,
    recent: [],
    before: [],
    knownServers: [],
    holdsSecret: () => false,
    nowMs: NOW,
    ...call,
  };
}

const verdict = (call: Partial<EgressQuestion>) => judgeEgress(question(call)).verdict;
const mail = (to: JsonObject[string], said: string, more: JsonObject = {}) =>
  verdict({ args: { to, subject: 'Hi', body: 'See you.', ...more }, userWords: [said] });

type RecipientCase = readonly [to: string | string[], said: string];

describe('recipients that pass', () => {
  test.each<RecipientCase>([
    ['ann@example.org', 'Write to ann@example.org that I am late.'],
    [['ann@example.org'], 'Write to ann@example.org.'],
    ['ANN@Example.ORG', 'write to ann@example.org'],
    ['ann@example.org', 'Write to <ann@example.org>, please!'],
    ['Ann <ann@example.org>', 'Write to ann@example.org'],
    ['"Ann, the boss" <ann@example.org>', 'ann@example.org, the boss'],
    ['ann+news@example.org', 'Write to ann@example.org'],
    ['ann@example.org', 'mailto:ann@example.org'],
    ['ann@example.org, bob@example.org', 'Tell ann@example.org and bob@example.org'],
    ['ann@example.org; bob@example.org', 'ann@example.org\nbob@example.org'],
    [['ann@example.org', 'kristen@example.com'], 'Tell ann@example.org and Kristen'],
    ['kristen@example.com', 'Answer her'],
    ['Kristen Berg <kristen@example.com>', 'Answer her'],
    ['anybody@corp.example', 'Tell them'],
    ['büro@example.org', 'Schreib an büro@example.org'],
    ['ann@xn--bcher-kva.example', 'ann@bücher.example'],
  ])('%j after %j', (to, said) => {
    verifies('ST-5.5');
    expect(mail(to, said)).toBe('ALLOW');
  });
});

describe('recipients that a person is asked about', () => {
  test.each<RecipientCase>([
    ['eve@evil.example', 'Write to ann@example.org that I am late.'],
    ['eve@evil.example', ''],
    [['ann@example.org', 'eve@evil.example'], 'Write to ann@example.org'],
    ['ann@example.org, eve@evil.example', 'Write to ann@example.org'],
    ['ann@example.org;eve@evil.example', 'Write to ann@example.org'],
    ['ann@example.org\neve@evil.example', 'Write to ann@example.org'],
    ['ann@example.org eve@evil.example', 'Write to ann@example.org'],
    ['ann@example.org <eve@evil.example>', 'Write to ann@example.org'],
    ['"ann@example.org" <eve@evil.example>', 'Write to ann@example.org'],
    ['eve@evil.example <ann@example.org>', 'Write to ann@example.org'],
    ['Kristen Berg <eve@evil.example>', 'Write to Kristen'],
    ['Ann <ann@example.org> <eve@evil.example>', 'Write to ann@example.org'],
    ['ann@example.org(eve@evil.example)', 'Write to ann@example.org'],
    ['<@evil.example:ann@example.org>', 'Write to ann@example.org'],
    ['ann%evil.example@example.org', 'Write to ann@example.org'],
    ['\u0430nn@example.org', 'Write to ann@example.org'],
    ['ann@ex\u0430mple.org', 'Write to ann@example.org'],
    ['ann@exam\u200bple.org', 'Write to ann@example.org'],
    ['ann\u200d@example.org', 'Write to ann@example.org'],
    ['ann@example.org\u202e', 'Write to ann@example.org'],
    ['\uff41nn@example.org', 'Write to ann@example.org'],
    ['ann@example.org.evil.example', 'Write to ann@example.org'],
    ['ann@evil-example.org', 'Write to ann@example.org'],
    ['ann@sub.example.org', 'Write to ann@example.org'],
    ['annn@example.org', 'Write to ann@example.org'],
    ['a.nn@example.org', 'Write to ann@example.org'],
    ['eve@sub.corp.example', 'Tell them'],
    ['eve@corp.example.evil.example', 'Tell them'],
    ['eve@notcorp.example', 'Tell them'],
    ['*@corp.example', 'Tell them'],
    ['ann%40example.org', 'Write to ann@example.org'],
    ['ann&#64;example.org', 'Write to ann@example.org'],
    ['=?utf-8?q?ann?= <eve@evil.example>', 'Write to ann@example.org'],
    ['undisclosed', 'Write to ann@example.org'],
    ['ann@xn--exmple-cua.org', 'Write to ann@example.org'],
  ])('%j after %j', (to, said) => {
    verifies('ST-5.5');
    expect(mail(to, said)).toBe('ESCALATE_TO_HUMAN');
  });

  test.each(['cc', 'bcc', 'reply_to', 'forward_to', 'additionalRecipients'])(
    'in %s beside one that the user has named',
    (field) => {
      const args = { [field]: ['eve@evil.example'] };
      expect(mail('ann@example.org', 'Write to ann@example.org', args)).toBe('ESCALATE_TO_HUMAN');
    },
  );

  test('an address that the reason names is not named by the user', () => {
    const { verdict: found, reason } = judgeEgress(
      question({ args: { to: 'eve@evil.example' }, userWords: ['Answer the mail'] }),
    );
    expect(found).toBe('ESCALATE_TO_HUMAN');
    expect(reason).toContain('eve@evil.example');
  });

  test('arguments that are too large to be looked at', () => {
    const to = Array.from({ length: 20_000 }, () => 'ann@example.org');
    expect(mail(to, 'Write to ann@example.org')).toBe('ESCALATE_TO_HUMAN');
  });
});

test.each(['#', '!', '|', '*', '?', "'", '`', '{', '/', '=', 'evil.example!', '~'])(
  'the sign %s before an address that was named makes it another one',
  (sign) => {
    expect(mail(`${sign}ann@example.com`, 'Write to ann@example.com.')).toBe('ESCALATE_TO_HUMAN');
    expect(mail(`ann@example.com${sign}x`, 'Write to ann@example.com.')).toBe('ESCALATE_TO_HUMAN');
    const said = `Write to r${sign}ann@example.com.`;
    expect(mail(`r${sign}ann@example.com`, said)).toBe('ALLOW');
  },
);

describe('names, handles and numbers', () => {
  const chat = (to: JsonObject, said: string) =>
    verdict({
      server: 'slack',
      tool: 'post_message',
      args: { ...to, text: 'Hi' },
      userWords: [said],
    });
  test.each<readonly [JsonObject, string, 'ALLOW' | 'ESCALATE_TO_HUMAN']>([
    [{ channel: '#team' }, 'Tell them', 'ALLOW'],
    [{ channel: 'team' }, 'Tell them', 'ALLOW'],
    [{ channel: '#general' }, 'Post it in #general.', 'ALLOW'],
    [{ channel: 'general' }, 'Post it in General!', 'ALLOW'],
    [{ channel: '#general' }, 'In general, tell nobody', 'ALLOW'],
    [{ channel: '#random' }, 'Post it in #general', 'ESCALATE_TO_HUMAN'],
    [{ channel: 'gene' }, 'Post it in #general', 'ESCALATE_TO_HUMAN'],
    [{ channel: 'gener\u0430l' }, 'Post it in #general', 'ESCALATE_TO_HUMAN'],
    [{ channel: 'C0123456789' }, 'Post it in #general', 'ESCALATE_TO_HUMAN'],
    [{ username: '@kberg' }, 'Tell her', 'ALLOW'],
    [{ to: 'Kristen Berg' }, 'Tell her', 'ALLOW'],
    [{ to: 'Kristen' }, 'Tell Kristen', 'ALLOW'],
    [{ to: 'Eve' }, 'Tell Kristen', 'ESCALATE_TO_HUMAN'],
    [{ phone: '+4915123456789' }, 'Tell her', 'ALLOW'],
    [{ phone: '0151 2345 6789' }, 'Tell her', 'ALLOW'],
    [{ phone: '0049 151 23456789' }, 'Tell her', 'ALLOW'],
    [{ phone: '+44 151 23456789' }, 'Tell her', 'ESCALATE_TO_HUMAN'],
    [{ phone: '+1 555 010 0199' }, 'Call +1 (555) 010-0199', 'ALLOW'],
    [{ phone: '+15550100198' }, 'Call +1 (555) 010-0199', 'ESCALATE_TO_HUMAN'],
    [{ chat_id: 123456789 }, 'Tell Kristen', 'ESCALATE_TO_HUMAN'],
    [{ to: '+4915123456789, +15550100198' }, 'Tell her', 'ESCALATE_TO_HUMAN'],
  ])('%j after %j: %s', (to, said, expected) => {
    expect(chat(to, said)).toBe(expected);
  });
});

describe('hosts', () => {
  const fetched = (url: string, said = '') =>
    verdict({ server: 'web', tool: 'fetch', args: { url }, userWords: [said] });
  test.each<readonly [string, string, 'ALLOW' | 'ESCALATE_TO_HUMAN']>([
    ['https://docs.example.net/a?b=c', '', 'ALLOW'],
    ['https://en.wiki.example/Tea', '', 'ALLOW'],
    ['https://example.org/x', 'Read https://example.org/start', 'ALLOW'],
    ['https://example.org/x', 'What is on example.org?', 'ALLOW'],
    ['https://www.example.org/x', 'What is on example.org?', 'ALLOW'],
    ['https://wiki.example/Tea', '', 'ESCALATE_TO_HUMAN'],
    ['https://evil.example/', 'What is on example.org?', 'ESCALATE_TO_HUMAN'],
    ['https://a.example.org/', 'What is on example.org?', 'ESCALATE_TO_HUMAN'],
    ['https://example.org@evil.example/', 'What is on example.org?', 'ESCALATE_TO_HUMAN'],
    ['https://example.org.evil.example/', 'What is on example.org?', 'ESCALATE_TO_HUMAN'],
    ['https://docs.example.net.evil.example/', '', 'ESCALATE_TO_HUMAN'],
    ['https://evilwiki.example/', '', 'ESCALATE_TO_HUMAN'],
    ['https:\\\\evil.example\\x', '', 'ESCALATE_TO_HUMAN'],
    ['https://docs.example.net/?u=https://evil.example/', '', 'ESCALATE_TO_HUMAN'],
    ['https://ex\u0430mple.org/', 'What is on example.org?', 'ESCALATE_TO_HUMAN'],
    [`https://docs.example.net/?q=${'x'.repeat(1_001)}`, '', 'ESCALATE_TO_HUMAN'],
    [`https://docs.example.net/${'aB3'.repeat(200)}`, '', 'ESCALATE_TO_HUMAN'],
  ])('%s after %j: %s', (url, said, expected) => {
    expect(fetched(url, said)).toBe(expected);
  });

  test('a list of every host lets all pass', () => {
    const args = { url: 'https://any.example/' };
    expect(verdict({ server: 'web', tool: 'fetch', args, hosts: ['*'] })).toBe('ALLOW');
  });
});

describe('what is sent', () => {
  const body = (text: string) => mail('kristen@example.com', '', { body: text });
  const rows = (count: number, row: (n: number) => string) =>
    Array.from({ length: count }, (_, index) => row(index)).join('\n');
  test.each<readonly [string, string]>([
    ['a very long text', 'word '.repeat(5_000)],
    ['base64', `See: ${Buffer.from('x9'.repeat(400)).toString('base64')}`],
    ['base64 in lines', `${'QUJD1'.repeat(15)}\n`.repeat(10)],
    ['hex', Buffer.from('secret data, lots of it'.repeat(20)).toString('hex')],
    ['a table', rows(60, (n) => `${n},Ann,Berg,ann${n},1990-01-01`)],
    ['a table of tabs', rows(60, (n) => `${n}\tAnn\tBerg\t1990`)],
    ['a listing of files', rows(60, (n) => `/home/ann/photos/${n}.jpg`)],
    ['ls -l', rows(60, (n) => `-rw-r--r-- 1 ann ann 100 Jan 1 file${n}`)],
    ['settings', rows(60, (n) => `SETTING_${n}=value`)],
    ['JSON', JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: 'Ann' })))],
    ['many addresses', rows(30, (n) => `Please also ask p${n}@people.example about it.`)],
  ])('%s is no message', (_what, text) => {
    verifies('ST-5.5');
    expect(body(text)).toBe('ESCALATE_TO_HUMAN');
  });

  test.each<readonly [string, string]>([
    ['a card', 'Pay with 4111 1111 1111 1111.'],
    ['an account', 'Send it to DE89 3704 0044 0532 0130 00.'],
    ['a social security number', 'My SSN is 536-22-8146.'],
  ])('%s in it is asked about, unless the user has said it', (_what, text) => {
    verifies('ST-5.5');
    expect(body(text)).toBe('ESCALATE_TO_HUMAN');
    const said = `Tell Kristen: ${text.replaceAll(/[ -]/g, '')}`;
    expect(mail('kristen@example.com', said, { body: text })).toBe('ALLOW');
    const args = { title: 'Notes', text };
    expect(verdict({ server: 'google-docs', tool: 'create_document', args })).toBe(
      'ESCALATE_TO_HUMAN',
    );
    expect(verdict({ server: 'files', tool: 'propose_write', args })).toBe('ALLOW');
  });

  test.each<readonly [string, string]>([
    ['a short mail', 'Dear Kristen,\n\nsee you at 7, then.\n\nAnn'],
    ['a long mail', `Dear Kristen,\n\n${'I have thought about it, and yes. '.repeat(300)}`],
    ['a grocery list', rows(60, (n) => `- ${n} apples`)],
    ['a small table', rows(10, (n) => `${n}, a, b, c`)],
    ['a link', 'Look: https://docs.example.net/a/b?c=d'],
    ['a hash', `The checksum is ${'ab12'.repeat(16)}.`],
    ['a poem', rows(80, () => 'And miles to go before I sleep')],
  ])('%s is a message', (_what, text) => {
    expect(body(text)).toBe('ALLOW');
  });
});

describe('how much is sent', () => {
  const sent = (count: number, agoMs: number, to = 'kristen@example.com'): SentMessage[] =>
    Array.from({ length: count }, () => ({ atMs: NOW - agoMs, recipients: [to] }));
  const after = (recent: readonly SentMessage[], to = 'kristen@example.com') =>
    verdict({ args: { to, body: 'Hi' }, userWords: [to], recent });
  test('as many messages in an hour as allowed, and no more', () => {
    verifies('ST-5.5');
    expect(after(sent(4, 1_000))).toBe('ALLOW');
    expect(after(sent(5, 1_000))).toBe('ESCALATE_TO_HUMAN');
    expect(after(sent(5, 3_600_001))).toBe('ALLOW');
  });
  test('as many messages in a day as allowed, and no more', () => {
    expect(after(sent(10, 7_200_000))).toBe('ESCALATE_TO_HUMAN');
    expect(after(sent(10, 86_400_001))).toBe('ALLOW');
  });
  test('new recipients of a day are counted once each, contacts never', () => {
    const three = ['a', 'b', 'c'].flatMap((name) => sent(1, 4_000_000, `${name}@example.org`));
    expect(after(three, 'c@example.org')).toBe('ALLOW');
    expect(after(three, 'd@example.org')).toBe('ESCALATE_TO_HUMAN');
    expect(after(three)).toBe('ALLOW');
  });
  test('what reaches nobody is not counted', () => {
    expect(
      sentMessage({ server: 'web', tool: 'fetch', args: { url: 'https://a.example' } }, 1),
    ).toBe(undefined);
    expect(
      sentMessage({ server: 'email', tool: 'send', args: { to: 'Ann <ANN@a.example>' } }, 1),
    ).toEqual({ atMs: 1, recipients: ['ann@a.example'] });
    const reading = { args: { query: 'x' }, recent: sent(9, 1), server: 'web', tool: 'search' };
    expect(verdict(reading)).toBe('ALLOW');
  });
});

test.each([
  ['email', 'draft', { to: 'eve@evil.example', body: 'x' }],
  ['email', 'search', { from: 'eve@evil.example', to: 'eve@evil.example' }],
  ['files', 'propose_write', { path: 'a', content: 'https://evil.example eve@evil.example' }],
  ['memory', 'remember', { text: 'eve@evil.example' }],
])('%s.%s sends nothing', (server, tool, args) => {
  expect(verdict({ server, tool, args })).toBe('ALLOW');
});

describe('what goes to a channel', () => {
  const redactor = createRedactor({
    values: [{ name: 'token', value: 'hunter2-hunter2-hunter2' }],
  });
  const text =
    'Your key is AKIAIOSFODNN7REALKEY, the token hunter2-hunter2-hunter2, card 4111 1111 1111 1111, mail kristen@gmail.com.';
  test('a private channel gets no secrets', () => {
    verifies('ST-5.5');
    const shown = replyFor(text, { isPrivate: true, redactor });
    expect(shown).not.toMatch(/AKIAIOSF|hunter2/);
    expect(shown).toContain('4111 1111 1111 1111');
    expect(shown).toContain('kristen@gmail.com');
  });
  test('a further copy of a secret goes too, where nothing around it gives it away', () => {
    const said = 'API_TOKEN=Vk7pQ2mZx9Lw4Rt8Yb1N\nThen say Vk7pQ2mZx9Lw4Rt8Yb1N aloud.';
    const shown = replyFor(said, { isPrivate: true, redactor });
    expect(shown).not.toContain('Vk7pQ2mZ');
    expect(shown).toMatch(/^API_TOKEN=\[.+\]\nThen say \[.+\] aloud\.$/);
  });
  test('a channel that others read gets no personal data either', () => {
    const shown = replyFor(text, { isPrivate: false, redactor });
    expect(shown).not.toMatch(/AKIAIOSF|hunter2|4111|kristen@/);
    expect(shown).toContain('Your key is');
  });
  test('a plain reply stays as it is', () => {
    const plain = 'Done: 3 mails read, the meeting is at 10:30 on 2026-11-18.';
    expect(replyFor(plain, { isPrivate: false, redactor })).toBe(plain);
  });
  test('what was not looked at is not sent', () => {
    const long = `${'word '.repeat(250_000)} hunter2-hunter2-hunter2`;
    expect(replyFor(long, { isPrivate: false, redactor }).length).toBeLessThan(long.length);
  });
});

describe('what a task carries out after it has read private data', () => {
  const READ = { server: 'files', tool: 'read', args: { path: 'home.md' }, result: 'Radiohead' };
  const search = (query: string, result = '') => {
    return { server: 'spotify', tool: 'search', args: { query }, result };
  };
  const ask = (
    query: string,
    before: EgressQuestion['before'] = [READ],
    knownServers: readonly string[] = [],
  ) =>
    verdict({
      ...{ ...search(query), before, knownServers },
      userWords: ['Find songs for a rainy afternoon by the band in home.md'],
    });
  test.each<readonly [string, 'ALLOW' | 'ESCALATE_TO_HUMAN']>([
    ['songs for a rainy afternoon', 'ALLOW'],
    ['Radiohead songs', 'ALLOW'],
    ['otter-quay-lantern-8305', 'ESCALATE_TO_HUMAN'],
    ['the alarm is switched off with it', 'ESCALATE_TO_HUMAN'],
    [Buffer.from('the alarm is off').toString('base64'), 'ESCALATE_TO_HUMAN'],
    // Of signs alone, of two words in turn, of words that the user has said, of their letters in both cases.
    [`songs${'-__--_-_'.repeat(8)}`, 'ESCALATE_TO_HUMAN'],
    ['xy zw '.repeat(30), 'ESCALATE_TO_HUMAN'],
    ['rainy band songs '.repeat(20), 'ESCALATE_TO_HUMAN'],
    ['sOngS aFTernOon rAINy sONgs AfTeRnOoN rAiNY SoNGs', 'ESCALATE_TO_HUMAN'],
  ])('%s: %s', (query, expected) => {
    verifies('ST-5.5');
    expect(ask(query)).toBe(expected);
  });

  test('pieces are counted together', () => {
    const first = search('otterquay');
    expect(ask('lantern8305', [READ])).toBe('ALLOW');
    expect(ask('lantern8305', [READ, first])).toBe('ESCALATE_TO_HUMAN');
  });

  test('nobody is asked before anything private was read', () => {
    expect(ask('otter-quay-lantern-8305', [])).toBe('ALLOW');
    expect(ask('otter-quay-lantern-8305', [], ['web', 'agents'])).toBe('ALLOW');
  });

  test.each(['memory', 'shell', 'gmail', 'email'])('%s may have told before', (server) => {
    expect(ask('otter-quay-lantern-8305', [], [server])).toBe('ESCALATE_TO_HUMAN');
  });

  test('a server may hear again what it has told itself, and nothing that another has', () => {
    const id = 'track:4uLU6hMCjMI75M1A2tKUQC';
    expect(ask(id, [READ, search('songs', `Found ${id}.`)])).toBe('ALLOW');
    const elsewhere = { server: 'gmail', tool: 'read', args: {}, result: `Found ${id}.` };
    expect(ask(id, [elsewhere])).toBe('ESCALATE_TO_HUMAN');
    expect(ask(id, [], ['spotify'])).toBe('ALLOW');
    // Its answer repeats the question: that does not take the question back.
    const echoed = search('otterquay', 'Nothing for otterquay.');
    expect(ask('lantern8305', [READ, echoed])).toBe('ESCALATE_TO_HUMAN');
  });

  test('a registry of servers gets no words either', () => {
    const args = { query: 'otter-quay-lantern-8305' };
    const discover = { server: 'servers', tool: 'discover', args, before: [READ] };
    expect(verdict(discover)).toBe('ESCALATE_TO_HUMAN');
  });
});

test('a secret of Steward itself goes nowhere', () => {
  const holdsSecret = (text: string) => text.includes('velvet');
  const args = { path: 'a.txt', content: 'velvet' };
  expect(verdict({ server: 'files', tool: 'propose_write', args, holdsSecret })).toBe('BLOCK');
});
