// `x-mcp-header` in the input schema of a tool: the parameter that carries it is mirrored into the header
// `Mcp-Param-{name}`. One annotation that breaks the rules makes the whole tool invalid.
import { isObject } from '@subluminal/contracts';
import { childrenOf, type Node, namedAt } from '../surface/schema/node.ts';
import { visible } from '../text/visible.ts';

/** A parameter that is mirrored. */
export interface HeaderAnnotation {
  /** The header as the schema spells it: `Mcp-Param-Region`. */
  readonly header: string;
  /** The keys that lead to its value in the arguments. */
  readonly path: readonly string[];
}

export type Annotations =
  | { readonly ok: true; readonly annotations: readonly HeaderAnnotation[] }
  | { readonly ok: false; readonly reason: string };

const ANNOTATION = 'x-mcp-header';
const PARAM_PREFIX = 'Mcp-Param-';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
const NODES_MAX = 20_000;
const DEPTH_MAX = 64;
const ANNOTATIONS_MAX = 64;
const NAME_LENGTH_MAX = 128;

interface Place {
  readonly node: Node;
  /** Undefined where no chain of `properties` alone leads. */
  readonly path: readonly string[] | undefined;
}

/** The annotations of an input schema, or why it breaks the rules for them. */
export function readAnnotations(schema: unknown): Annotations {
  const found = new Map<string, HeaderAnnotation>();
  const places: Place[] = isObject(schema) ? [{ node: schema, path: [] }] : [];
  let depth = 0;
  let count = 0;
  for (let level = places; level.length > 0; depth++) {
    count += level.length;
    if (count > NODES_MAX || depth > DEPTH_MAX) {
      return invalid('its schema is too large to be searched');
    }
    for (const place of level) {
      const fault = addAnnotation(found, place);
      if (fault !== undefined) return invalid(fault);
    }
    level = level.flatMap(placesBelow);
  }
  return { ok: true, annotations: [...found.values()] };
}

function invalid(reason: string): Annotations {
  return { ok: false, reason };
}

function addAnnotation(
  found: Map<string, HeaderAnnotation>,
  { node, path }: Place,
): string | undefined {
  if (!Object.hasOwn(node, ANNOTATION)) return undefined;
  const name: unknown = node[ANNOTATION];
  if (path === undefined || path.length === 0) {
    return `${ANNOTATION} stands where no chain of \`properties\` leads`;
  }
  const at = `\`${visible(path.join('.'), 80)}\``;
  if (typeof name !== 'string' || name.length > NAME_LENGTH_MAX || !TOKEN.test(name)) {
    return `${ANNOTATION} of ${at} is not the name of a header`;
  }
  if (!isPrimitive(node['type'])) {
    return `${ANNOTATION} of ${at} is on a type other than string, integer or boolean`;
  }
  const key = name.toLowerCase();
  if (found.has(key)) return `two parameters have the ${ANNOTATION} \`${name}\``;
  if (found.size >= ANNOTATIONS_MAX) return `more than ${ANNOTATIONS_MAX} parameters have one`;
  found.set(key, { header: `${PARAM_PREFIX}${name}`, path });
  return undefined;
}

/** A parameter may also be null, which is never mirrored. */
function isPrimitive(type: unknown): boolean {
  if (!Array.isArray(type)) return TYPES.has(type);
  const types = type.filter((one) => one !== 'null');
  return types.length > 0 && types.every((one) => TYPES.has(one));
}

function placesBelow({ node, path }: Place): readonly Place[] {
  const properties = namedAt(node, 'properties');
  const named = Object.entries(properties).flatMap(([key, child]) =>
    isObject(child) ? [{ node: child, path: path && [...path, key] }] : [],
  );
  const { properties: _named, ...others } = node;
  const rest = [...childrenOf(others), ...Object.values(namedAt(node, 'dependencies'))];
  return [...named, ...rest.filter(isObject).map((child) => ({ node: child, path: undefined }))];
}
