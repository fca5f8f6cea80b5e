import { readFileSync } from 'node:fs';
import { SERVE_FILE, type Shape } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { readServeConfig } from './serve-config.ts';

function fileAt(path: string): Buffer {
  return readFileSync(new URL(`../../../../../${path}`, import.meta.url));
}

/** The names of all fields, at any depth. */
function fieldNames(shape: Shape): readonly string[] {
  if (shape.kind === 'array') return fieldNames(shape.items);
  if (shape.kind === 'record') return fieldNames(shape.values);
  if (shape.kind !== 'object') return [];
  return Object.entries(shape.fields).flatMap(([name, field]) => [
    name,
    ...fieldNames(field.shape),
  ]);
}

test('the guide names every field', () => {
  const guide = fileAt('docs/guides/remote-servers.md').toString();
  const missing = fieldNames(SERVE_FILE).filter(
    (name) => !new RegExp(`[\`.]${name}[\`.]|^[ -]*${name}:`, 'm').test(guide),
  );
  expect(missing).toEqual([]);
});

test('the example is a configuration', () => {
  const read = readServeConfig('serve.yaml', fileAt('examples/serve/serve.yaml'));
  expect(read).toMatchObject({ ok: true, problems: [] });
});

test.each([
  ['headers: {TE: trailers}', 'the transport writes the header `TE` itself'],
  ['header_env: {Mcp-Session-Id: X}', 'the transport writes the header `Mcp-Session-Id` itself'],
  ['headers: {"a b": x}', '`a b` is no name of a header'],
  ['headers: {Authorization: x}', 'a credential does not belong into this file'],
  ['env: {A: b}', '`env` means nothing for a server with `url`'],
])('a server with an address and `%s` is refused', (field, message) => {
  const text = `auth: {none: true}\nservers: {far: {url: "https://far.example/mcp", ${field}}}\n`;
  const { problems } = readServeConfig('serve.yaml', Buffer.from(text));
  expect(problems).toMatchObject([{ level: 'error', message }]);
});
