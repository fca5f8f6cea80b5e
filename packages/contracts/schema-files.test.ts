import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { verifies } from '../../test/requirements.ts';
import { REFUSAL_CODES } from './decision/decision.ts';
import { schemaFiles } from './schema-files.ts';
import { isObject } from './shape/check.ts';
import { PACK_VERSION } from './shape/formats.ts';
import type { JsonValue } from './shape/shape.ts';

const PAGE = readFileSync(new URL('../../docs/reference/contracts.md', import.meta.url), 'utf8');

/** The names of all fields whose description says that they came after 0.1.0. */
function laterFields(schema: JsonValue, name = ''): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const inner = Object.entries(schema).flatMap(([key, value]) => laterFields(value, key));
  const description: unknown = isObject(schema) ? schema['description'] : undefined;
  const later = typeof description === 'string' && description.startsWith('Since 0.2.0');
  return later ? [name, ...inner] : inner;
}

it('docs/reference/contracts.md lists every field that came after pack 0.1.0', () => {
  verifies('IP-0.1');
  const later = [...new Set(laterFields(schemaFiles()))];
  expect(later).toContain('counter_scope');
  const unlisted = later.filter((name) => !new RegExp(`\`([a-z_]+\\.)*${name}\``).test(PAGE));
  expect(unlisted).toEqual([]);
});

it('docs/reference/contracts.md has the version, the codes and the schemas', () => {
  expect(PAGE).toContain(`version **${PACK_VERSION}**`);
  for (const [action, { legacy, modern }] of Object.entries(REFUSAL_CODES)) {
    expect(PAGE).toMatch(new RegExp(`^\\| ${action} \\| .* \\| ${legacy} \\| ${modern} \\|$`, 'm'));
  }
  for (const file of Object.keys(schemaFiles())) expect(PAGE).toContain(`\`${file}\``);
});
