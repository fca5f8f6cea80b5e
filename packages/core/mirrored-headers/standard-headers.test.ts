import { describe, expect, it } from 'vitest';
import {
  checkStandardHeaders,
  mirroredName,
  type RequestHeaders,
  standardHeaders,
} from './standard-headers.ts';

const VERSION = '2026-07-28';
const request = (method: string, name?: string) => ({ method, name, version: VERSION });
const headersOf = (given: { readonly [name: string]: string | readonly string[] }) =>
  Object.fromEntries(
    Object.entries({ 'mcp-protocol-version': VERSION, ...given }).map(([name, value]) => [
      name,
      typeof value === 'string' ? [value] : value,
    ]),
  ) satisfies RequestHeaders;

describe('the standard headers of a request', () => {
  it.each([
    ['tools/call', 'get_weather', 'get_weather'],
    ['resources/read', 'file:///projects/myapp/config.json', 'file:///projects/myapp/config.json'],
    ['prompts/get', 'größe', '=?base64?Z3LDtsOfZQ==?='],
    ['tasks/get', '786512e2', '786512e2'],
  ])('mirror the method and the name of %s', (method, name, written) => {
    expect(standardHeaders(method, name)).toEqual([
      ['Mcp-Method', method],
      ['Mcp-Name', written],
    ]);
    const headers = headersOf({ 'mcp-method': method, 'mcp-name': written });
    expect(checkStandardHeaders(headers, request(method, name))).toBeUndefined();
  });

  it('have no name where the method has none', () => {
    expect(standardHeaders('tools/list', 'x')).toEqual([['Mcp-Method', 'tools/list']]);
    const headers = headersOf({ 'mcp-method': 'tools/list', 'mcp-name': 'anything' });
    expect(checkStandardHeaders(headers, request('tools/list'))).toBeUndefined();
  });

  it('are refused for a method that no header can carry', () => {
    expect(standardHeaders('tools/call\r\nX-Evil: 1', 'a')).toBeUndefined();
    expect(standardHeaders('', 'a')).toBeUndefined();
  });

  it.each([
    ['the version is missing', { 'mcp-protocol-version': [] }, 'MCP-Protocol-Version is missing'],
    ['the version differs', { 'mcp-protocol-version': '2025-11-25' }, "'2025-11-25'"],
    ['the method is missing', { 'mcp-method': [] }, 'Mcp-Method is missing'],
    ['the method differs', { 'mcp-method': 'tools/list' }, "'tools/list' does not match"],
    ['the method has another case', { 'mcp-method': 'Tools/Call' }, "'Tools/Call' does not match"],
    ['the method is in Base64', { 'mcp-method': '=?base64?dG9vbHMvY2FsbA==?=' }, 'not match'],
    ['the name is missing', { 'mcp-name': [] }, 'Mcp-Name is missing'],
    ['the name differs', { 'mcp-name': 'foo' }, "'foo' does not match body value 'bar'"],
    ['the name has another case', { 'mcp-name': 'Bar' }, "'Bar' does not match"],
    ['the name is sent twice', { 'mcp-name': ['bar', 'bar'] }, 'more than once'],
    ['the method is sent twice', { 'mcp-method': ['tools/call', 'x'] }, 'more than once'],
    ['the Base64 of the name is malformed', { 'mcp-name': '=?base64?YmFy=?=' }, 'well-formed'],
    ['the name is not ASCII', { 'mcp-name': 'b\u00e4r' }, 'well-formed'],
  ])('do not match when %s', (_, changed, words) => {
    const headers = headersOf({ 'mcp-method': 'tools/call', 'mcp-name': 'bar', ...changed });
    expect(checkStandardHeaders(headers, request('tools/call', 'bar'))).toContain(words);
  });

  it.each([
    ['with blanks around it', ' bar\t'],
    ['in Base64', '=?base64?YmFy?='],
  ])('match a name %s', (_, written) => {
    const headers = headersOf({ 'mcp-method': 'tools/call', 'mcp-name': written });
    expect(checkStandardHeaders(headers, request('tools/call', 'bar'))).toBeUndefined();
  });

  it('do not match when the body has no name, but the header has one', () => {
    const headers = headersOf({ 'mcp-method': 'tools/call', 'mcp-name': 'bar' });
    expect(checkStandardHeaders(headers, request('tools/call'))).toContain('no such value');
  });

  it('show hostile values in a harmless spelling', () => {
    const headers = headersOf({ 'mcp-method': 'tools/call', 'mcp-name': '=?base64?G1sySg==?=' });
    expect(checkStandardHeaders(headers, request('tools/call', 'bar'))).toContain('\\u{1b}[2J');
  });
});

describe('the name that a header mirrors', () => {
  const nameOf = (method: string, params: string) =>
    mirroredName(
      Buffer.from(`{"jsonrpc":"2.0","id":1,"params":${params},"method":"${method}"}`),
      method,
    );

  it.each([
    ['tools/call', '{"arguments":{"name":"x"},"name":"get"}', 'get'],
    ['prompts/get', '{"name":"a\\u0062"}', 'ab'],
    ['resources/read', '{"_meta":{"uri":"x"},"uri":"file:///a"}', 'file:///a'],
    ['tasks/cancel', '{"taskId":"7"}', '7'],
    ['tools/list', '{"name":"x"}', undefined],
    ['tools/call', '{"name":7}', undefined],
    ['tools/call', '[]', undefined],
  ])('of %s with %s is %s', (method, params, name) => {
    expect(nameOf(method, params)).toBe(name);
  });
});
