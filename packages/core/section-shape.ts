// Shapes of what only we read: no schema is made of them, so their fields need no words.
import type { Shape } from '@subluminal/contracts';

const DOC = '';

export function list<const S extends Shape>(items: S, itemsMax: number, itemsMin = 0) {
  return { kind: 'array', items, itemsMin, itemsMax } as const;
}

export function choice<const V extends string>(...values: readonly V[]) {
  return { kind: 'enum', values } as const;
}

export function must<const S extends Shape>(shape: S) {
  return { shape, required: true, doc: DOC } as const;
}

export function may<const S extends Shape>(shape: S) {
  return { shape, required: false, doc: DOC } as const;
}

export function closed<
  const F extends { readonly [name: string]: ReturnType<typeof may | typeof must> },
>(fields: F) {
  return { kind: 'object', fields, closed: true, conditions: [] } as const;
}
