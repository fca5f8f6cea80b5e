import { expect, test } from 'vitest';
import { sameSite } from './gateway-connection.ts';

test('a session is resumed only at an address of Discord, because the token goes there', () => {
  const known = 'wss://gateway.discord.gg/';
  const resumed = 'wss://gateway-us-east1-b.discord.gg';
  expect(sameSite(resumed, known)).toBe(resumed);
  const others = [
    'wss://evil.example',
    'wss://evildiscord.gg',
    'wss://discord.gg.evil.example',
    'ws://gateway.discord.gg',
    'wss://gateway.discord.gg:8443',
    'no address',
    undefined,
  ];
  expect(others.map((url) => sameSite(url, known))).toEqual(others.map(() => undefined));
});
