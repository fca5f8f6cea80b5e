// The table of a configuration file's fields, as the reference pages have it.
import { describe, type Shape } from '@subluminal/contracts';

/** One line for each field, those of inner objects below it. */
export function fieldTable(shape: Shape): string {
  return ['| field | takes | default | meaning |', '|---|---|---|---|', ...rows(shape, '')].join(
    '\n',
  );
}

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
