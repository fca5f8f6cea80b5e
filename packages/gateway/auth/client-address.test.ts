import type { IncomingMessage } from 'node:http';
import { isFailure } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { addressGroup, addressRules, clientAddress, isAllowedAddress } from './client-address.ts';

function rules(options: Parameters<typeof addressRules>[0]) {
  const read = addressRules(options);
  if (isFailure(read)) throw new Error(read.message);
  return read;
}

function request(remoteAddress: string, forwarded: readonly string[] = []): IncomingMessage {
  const headersDistinct = forwarded.length === 0 ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress }, headersDistinct } as unknown as IncomingMessage;
}

describe('the allowlist', () => {
  it.each([
    ['198.51.100.7', ['198.51.100.0/24'], true],
    ['198.51.101.7', ['198.51.100.0/24'], false],
    ['198.51.100.7', ['198.51.100.7'], true],
    ['198.51.100.8', ['198.51.100.7'], false],
    ['2001:db8::1', ['2001:db8::/32'], true],
    ['2001:db9::1', ['2001:db8::/32'], false],
    ['198.51.100.7', ['2001:db8::/32'], false],
    ['203.0.113.9', ['0.0.0.0/0'], true],
    ['203.0.113.9', [], true],
    ['', ['0.0.0.0/0', '::/0'], false],
  ] as const)('%j against %j: %s', (address, ipAllowlist, isAllowed) => {
    expect(isAllowedAddress(address, rules({ ipAllowlist }))).toBe(isAllowed);
  });

  it.each([
    '198.51.100.0/33',
    '2001:db8::/129',
    'example.com',
    '198.51.100.0/',
    '1.2.3',
    '::1/8/8',
  ])('refuses %s, which is no block', (block) => {
    expect(addressRules({ ipAllowlist: [block] })).toMatchObject({ code: 'SUB_CONFIG_VALUE' });
    expect(addressRules({ trustedProxies: [block] })).toMatchObject({ code: 'SUB_CONFIG_VALUE' });
  });
});

describe('the address of a client', () => {
  const proxies = rules({ trustedProxies: ['203.0.113.0/24'] });

  it.each([
    ['is that of the peer', '198.51.100.7', [], '198.51.100.7'],
    ['is not what an untrusted peer says', '198.51.100.7', ['192.0.2.1'], '198.51.100.7'],
    ['is what a trusted proxy says', '203.0.113.1', ['192.0.2.1'], '192.0.2.1'],
    [
      'is the last that no trusted proxy has',
      '203.0.113.1',
      ['1.1.1.1, 192.0.2.1, 203.0.113.2'],
      '192.0.2.1',
    ],
    ['comes from all headers in order', '203.0.113.1', ['1.1.1.1', '192.0.2.1'], '192.0.2.1'],
    [
      'stays with the proxy when the rest is nonsense',
      '203.0.113.1',
      ['192.0.2.1, evil'],
      '203.0.113.1',
    ],
    ['is plain when it is mapped into IPv6', '::ffff:198.51.100.7', [], '198.51.100.7'],
    ['knows a mapped proxy', '::ffff:203.0.113.1', ['192.0.2.1'], '192.0.2.1'],
  ] as const)('%s', (_, peer, forwarded, expected) => {
    expect(clientAddress(request(peer, forwarded), proxies)).toBe(expected);
  });
});

describe('failures', () => {
  it('are counted by address, and by /64 for IPv6', () => {
    expect(addressGroup('198.51.100.7')).toBe('198.51.100.7');
    expect(addressGroup('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2');
    expect(addressGroup('2001:db8::5')).toBe('2001:db8:0:0');
    expect(addressGroup('::1')).toBe('0:0:0:0');
  });
});
