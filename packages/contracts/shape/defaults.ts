// Fills in what people leave out, before a value is checked.
import { isObject } from './check.ts';
import type { Shape } from './shape.ts';

/** The value, with the default of each field that is left out; whatever else is wrong with it stays. */
export function withDefaults(shape: Shape, value: unknown): unknown {
  if (shape.kind === 'array') {
    return Array.isArray(value) ? value.map((item) => withDefaults(shape.items, item)) : value;
  }
  if (!isObject(value)) return value;
  if (shape.kind === 'variant') {
    const tag = value[shape.tag];
    const isKnown = typeof tag === 'string' && Object.hasOwn(shape.cases, tag);
    const chosen = isKnown ? shape.cases[tag] : undefined;
    return chosen === undefined ? value : withDefaults(chosen, value);
  }
  if (shape.kind === 'record') {
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, one]) => [key, withDefaults(shape.values, one)]));
  }
  if (shape.kind !== 'object') return value;
  const filled: { [name: string]: unknown } = { ...value };
  for (const [name, field] of Object.entries(shape.fields)) {
    if (Object.hasOwn(value, name)) filled[name] = withDefaults(field.shape, value[name]);
    else if (field.default !== undefined) {
      filled[name] = withDefaults(field.shape, field.default);
    }
  }
  return filled;
}
