import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { hostRules, refusedBy } from './host-guard.ts';

const SETTINGS = {
  host: '127.0.0.1',
  port: 7_800,
  isTls: false,
  publicUrl: undefined,
  allowedHosts: [],
  allowedOrigins: [],
};

function requestOf(host: string, origin?: string, url = '/mcp/a'): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.url = url;
  request.headers.host = host;
  request.rawHeaders.push('Host', host);
  if (origin !== undefined) request.headers.origin = origin;
  return request;
}

test.each([
  ['127.0.0.1', '127.0.0.1:7800', true],
  ['127.0.0.1', 'localhost:7800', true],
  ['127.0.0.1', '[::1]:7800', false],
  ['::1', '[::1]:7800', true],
  ['::1', '[0:0:0:0:0:0:0:1]:7800', false],
  ['::1', '[::1%25eth0]:7800', false],
  ['localhost', '[::1]:7800', true],
  ['0.0.0.0', 'localhost:7800', true],
  ['0.0.0.0', '0.0.0.0:7800', false],
  ['0.0.0.0', '192.0.2.7:7800', false],
  ['::', '[::]:7800', false],
  ['192.0.2.7', '192.0.2.7:7800', true],
  ['192.0.2.7', 'localhost:7800', false],
  ['2001:db8::7', '[2001:db8::7]:7800', true],
  ['2001:db8::7', '2001:db8::7:7800', false],
])('listening on %s, the host %s is right: %s', (host, given, isRight) => {
  const rules = hostRules({ ...SETTINGS, host });
  expect(refusedBy(requestOf(given), rules)).toBe(isRight ? undefined : 'host');
});

test.each([
  ['https://mcp.example.com', 'mcp.example.com', true],
  ['https://mcp.example.com', 'mcp.example.com:443', true],
  ['https://mcp.example.com', 'mcp.example.com:80', false],
  ['https://MCP.example.com/tools', 'mcp.example.com', true],
  ['https://mcp.example.com:8443', 'mcp.example.com', false],
  ['https://mcp.example.com:8443', 'mcp.example.com:8443', true],
])('behind %s, the host %s is right: %s', (publicUrl, given, isRight) => {
  const rules = hostRules({ ...SETTINGS, publicUrl });
  expect(refusedBy(requestOf(given), rules)).toBe(isRight ? undefined : 'host');
});

test('a host and an origin that the configuration names are right, and no others', () => {
  const rules = hostRules({
    ...SETTINGS,
    allowedHosts: ['MCP.internal:7800'],
    allowedOrigins: ['https://app.example.com'],
  });
  const host = 'mcp.internal:7800';
  expect(refusedBy(requestOf(host), rules)).toBe(undefined);
  expect(refusedBy(requestOf('mcp.internal'), rules)).toBe('host');
  expect(refusedBy(requestOf(host, 'https://app.example.com'), rules)).toBe(undefined);
  expect(refusedBy(requestOf(host, 'https://app.example.com:444'), rules)).toBe('origin');
  expect(refusedBy(requestOf(host, 'null'), rules)).toBe('origin');
});
