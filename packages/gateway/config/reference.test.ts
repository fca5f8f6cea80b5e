// docs/reference/gateway-config.md says what the shapes of the files say.
import { readFileSync } from 'node:fs';
import { describe, GATEWAY_CONFIG_FILES, type Shape } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { CONFIG_FILES } from './config-folder.ts';

const PAGE = readFileSync(
  new URL('../../../docs/reference/gateway-config.md', import.meta.url),
  'utf8',
);

/** One line for each field, those of inner objects below it. */
function rows(shape: Shape, path: string): readonly string[] {
  if (shape.kind === 'array') return rows(shape.items, `${path}[]`);
  if (shape.kind === 'record') return rows(shape.values, `${path}.NAME`);
  if (shape.kind !== 'object') return [];
  return Object.entries(shape.fields).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const isParent = rows(field.shape, at).length > 0;
    const fallback = field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``;
    const need = field.required && field.default === undefined ? 'required' : fallback;
    const takes = isParent ? '' : describe(field.shape);
    return [
      `| \`${at}\` | ${takes} | ${isParent && need !== 'required' ? '' : need} | ${field.doc} |`,
      ...rows(field.shape, at),
    ];
  });
}

test.each(Object.entries(GATEWAY_CONFIG_FILES))(
  'the reference has every field of %s',
  (key, form) => {
    const name = Object.entries(CONFIG_FILES).find(([one]) => one === key)?.[1] ?? '';
    const [, section = ''] = PAGE.split(`\n## ${name}\n`);
    const table = [
      '| field | takes | default | meaning |',
      '|---|---|---|---|',
      ...rows(form.shape, ''),
    ];
    expect(section.split('\n## ')[0]).toContain(`\n${table.join('\n')}\n`);
  },
);
