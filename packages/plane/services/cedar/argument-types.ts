// What the schema says of the arguments, as far as mapping depends on it: where decimals stand.
import type { SchemaJson } from '@cedar-policy/cedar-wasm/nodejs';

export type ArgumentType =
  | { readonly kind: 'decimal' }
  | { readonly kind: 'set'; readonly element: ArgumentType | undefined }
  | { readonly kind: 'record'; readonly attributes: ReadonlyMap<string, ArgumentType> };

const DEPTH_MAX = 32;

/** The type `Arguments`, with the common types that it names looked up. */
export function argumentTypes(schema: SchemaJson<string>): ArgumentType | undefined {
  const common: Record<string, unknown> = schema['']?.commonTypes ?? {};
  return typeOf(common['Arguments'], common, 0);
}

function typeOf(
  written: unknown,
  common: Record<string, unknown>,
  depth: number,
): ArgumentType | undefined {
  if (depth > DEPTH_MAX || typeof written !== 'object' || written === null) return undefined;
  const fields: Record<string, unknown> = { ...written };
  const name = typeof fields['name'] === 'string' ? fields['name'] : fields['type'];
  if (name === 'decimal' || name === '__cedar::decimal') return { kind: 'decimal' };
  if (fields['type'] === 'Set') {
    return { kind: 'set', element: typeOf(fields['element'], common, depth + 1) };
  }
  if (fields['type'] === 'Record') {
    const attributes = new Map<string, ArgumentType>();
    for (const [key, value] of Object.entries(fields['attributes'] ?? {})) {
      const type = typeOf(value, common, depth + 1);
      if (type !== undefined) attributes.set(key, type);
    }
    return { kind: 'record', attributes };
  }
  const known = typeof name === 'string' && Object.hasOwn(common, name) ? common[name] : undefined;
  return known === undefined ? undefined : typeOf(known, common, depth + 1);
}
