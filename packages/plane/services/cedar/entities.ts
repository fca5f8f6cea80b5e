// The entities that a user names: groups and their members.
import type { CedarValueJson, EntityJson, TypeAndId } from '@cedar-policy/cedar-wasm/nodejs';
import { isObject } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/policy';
import type { Engine } from './evaluate.ts';
import { cedarProblem, engineText } from './parse-policies.ts';

export type EntityMap = ReadonlyMap<string, EntityJson>;

interface ToolName {
  readonly server: string;
  readonly tool: string;
}

const ENTITIES_MAX = 5_000;
const ENTITIES_CODE = 'SUB_CEDAR_ENTITIES';

export function readEntities(
  engine: Engine,
  given: unknown,
  { file, schema }: { readonly file: string; readonly schema: string },
): EntityMap | readonly Problem[] {
  const wrong = (message: string, fix: string) => {
    return [cedarProblem(file, { code: ENTITIES_CODE, message, fix })];
  };
  const form = 'Write each as `{ "uid": { "type": "Agent", "id": "ci" }, "parents": [] }`.';
  if (!Array.isArray(given)) return wrong('the entities are no list', form);
  if (given.length > ENTITIES_MAX) {
    return wrong(`there are more than ${ENTITIES_MAX} entities`, 'Name groups, not single calls.');
  }
  const entities = new Map<string, EntityJson>();
  for (const [index, item] of given.entries()) {
    const entity = readEntity(item);
    if (entity === undefined)
      return wrong(`the entity ${index + 1} has no \`uid\` or a wrong field`, form);
    const key = entityKey(entityUid(entity.uid));
    if (entities.has(key))
      return wrong(`the entity ${key} is given twice`, 'Remove one of the two.');
    entities.set(key, entity);
  }
  const answer = engine.checkParseEntities({ entities: [...entities.values()], schema });
  if (answer.type === 'success') return entities;
  return answer.errors.map((error) =>
    cedarProblem(file, { code: ENTITIES_CODE, ...engineText(error, form) }),
  );
}

/** Fills in the attributes that the schema wants of servers and tools. */
function readEntity(item: unknown): EntityJson | undefined {
  if (!isObject(item)) return undefined;
  const { uid, attrs = {}, parents = [], tags, ...rest } = item;
  if (!isUid(uid) || !isObject(attrs) || !Array.isArray(parents)) return undefined;
  if (Object.keys(rest).length > 0 || !parents.every(isUid)) return undefined;
  if (tags !== undefined && !isObject(tags)) return undefined;
  const written = explicitRecord(attrs);
  const base = { uid, attrs: written, parents };
  const tagged = tags === undefined ? base : { ...base, tags: explicitRecord(tags) };
  if (uid.type === 'Server') return { ...tagged, attrs: { name: uid.id } };
  if (uid.type !== 'Tool') return tagged;
  const name = splitToolId(uid.id);
  return name === undefined ? undefined : toolEntity(name, parents);
}

export function toolEntity({ server, tool }: ToolName, groups: readonly TypeAndId[]): EntityJson {
  const place = { type: 'Server', id: server };
  const others = groups.filter(({ type, id }) => type !== 'Server' || id !== server);
  return {
    uid: { type: 'Tool', id: `${server}::${tool}` },
    attrs: { server: { __entity: place }, name: tool },
    parents: [place, ...others],
  };
}

/** Marks references to entities: without a schema, evaluation does not recognise unmarked ones. */
function explicitRecord(record: Record<string, unknown>): EntityJson['attrs'] {
  return Object.fromEntries(Object.entries(record).map(([key, inner]) => [key, explicit(inner)]));
}

/** Leaves values that Cedar does not know to the engine, which refuses them. */
function explicit(value: unknown): CedarValueJson {
  if (Array.isArray(value)) return value.map(explicit);
  if (isObject(value)) {
    if (isUid(value)) return { __entity: value };
    const { __entity: entity } = value;
    return isUid(entity) ? { __entity: entity } : explicitRecord(value);
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : null;
}

/** The entities that can matter: the given ones, and all that these refer to. */
export function entitiesFrom(
  entities: EntityMap,
  starts: Iterable<TypeAndId>,
): readonly EntityJson[] {
  const reached = new Map<string, EntityJson>();
  const open = [...starts];
  for (let uid = open.pop(); uid !== undefined; uid = open.pop()) {
    const key = entityKey(uid);
    const entity = entities.get(key);
    if (entity === undefined || reached.has(key)) continue;
    reached.set(key, entity);
    open.push(...findUids([entity.parents, entity.attrs, entity.tags]));
  }
  return [...reached.values()];
}

/** Every entity that is named anywhere inside. */
export function findUids(value: unknown): readonly TypeAndId[] {
  if (Array.isArray(value)) return value.flatMap(findUids);
  if (!isObject(value)) return [];
  return isUid(value) ? [value] : Object.values(value).flatMap(findUids);
}

export function entityUid(uid: EntityJson['uid']): TypeAndId {
  return '__entity' in uid ? uid['__entity'] : uid;
}

export function entityKey({ type, id }: TypeAndId): string {
  return `${type}::${JSON.stringify(id)}`;
}

function isUid(value: unknown): value is TypeAndId {
  if (!isObject(value) || Object.keys(value).length !== 2) return false;
  return typeof value['type'] === 'string' && typeof value['id'] === 'string';
}

/** `server::tool`; undefined for names that would share it with others: `a:` and `b` with `a` and `:b`. */
export function toolId({ server, tool }: ToolName): string | undefined {
  const isUnclear = server === '' || tool === '' || server.includes('::') || server.endsWith(':');
  return isUnclear ? undefined : `${server}::${tool}`;
}

function splitToolId(id: string): ToolName | undefined {
  const at = id.indexOf('::');
  const name = { server: id.slice(0, at), tool: id.slice(at + 2) };
  return at > 0 && toolId(name) === id ? name : undefined;
}
