// The entities that a user names: groups, and who and what belongs to them.
import type { CedarValueJson, EntityJson, TypeAndId } from '@cedar-policy/cedar-wasm/nodejs';
import type { Problem } from '@subluminal/core/policy';
import type { Engine } from './engine.ts';
import { problemOf, wordsOf } from './problems.ts';
import { splitToolId } from './tool-id.ts';

export type EntityMap = ReadonlyMap<string, EntityJson>;

type EntitiesRead =
  | { readonly ok: true; readonly entities: EntityMap }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const ENTITIES_MAX = 5_000;
const CODE = 'SUB_CEDAR_ENTITIES';

export function readEntities(
  engine: Engine,
  given: unknown,
  { file, schema }: { readonly file: string; readonly schema: string },
): EntitiesRead {
  const wrong = (message: string, fix: string): EntitiesRead => {
    return { ok: false, problems: [problemOf(file, { code: CODE, message, fix })] };
  };
  const form = 'Write each as `{ "uid": { "type": "Agent", "id": "ci" }, "parents": [] }`.';
  if (!Array.isArray(given)) return wrong('the entities are no list', form);
  if (given.length > ENTITIES_MAX) {
    return wrong(`there are more than ${ENTITIES_MAX} entities`, 'Name groups, not single calls.');
  }
  const entities = new Map<string, EntityJson>();
  for (const [index, item] of given.entries()) {
    const entity = entityOf(item);
    if (entity === undefined)
      return wrong(`the entity ${index + 1} has no \`uid\` or a wrong field`, form);
    const key = keyOf(uidOf(entity.uid));
    if (entities.has(key))
      return wrong(`the entity ${key} is given twice`, 'Remove one of the two.');
    entities.set(key, entity);
  }
  const answer = engine.checkParseEntities({ entities: [...entities.values()], schema });
  if (answer.type === 'success') return { ok: true, entities };
  const problems = answer.errors.map((error) =>
    problemOf(file, { code: CODE, ...wordsOf(error, form) }),
  );
  return { ok: false, problems };
}

/** With what the schema wants of servers and tools filled in, so that nobody needs to write it. */
function entityOf(item: unknown): EntityJson | undefined {
  if (!isRecord(item)) return undefined;
  const { uid, attrs = {}, parents = [], tags, ...rest } = item;
  if (!isUid(uid) || !isRecord(attrs) || !Array.isArray(parents)) return undefined;
  if (Object.keys(rest).length > 0 || !parents.every(isUid)) return undefined;
  if (tags !== undefined && !isRecord(tags)) return undefined;
  const written = explicitRecord(attrs);
  const base = { uid, attrs: written, parents };
  const tagged = tags === undefined ? base : { ...base, tags: explicitRecord(tags) };
  if (uid.type === 'Server') return { ...tagged, attrs: { name: uid.id } };
  if (uid.type !== 'Tool') return tagged;
  const name = splitToolId(uid.id);
  return name === undefined ? undefined : toolEntity(name, parents);
}

export function toolEntity(
  { server, tool }: { readonly server: string; readonly tool: string },
  groups: readonly TypeAndId[],
): EntityJson {
  const place = { type: 'Server', id: server };
  const others = groups.filter(({ type, id }) => type !== 'Server' || id !== server);
  return {
    uid: { type: 'Tool', id: `${server}::${tool}` },
    attrs: { server: { __entity: place }, name: tool },
    parents: [place, ...others],
  };
}

/** References without their mark are understood only with a schema, which evaluation has not. */
function explicitRecord(record: Record<string, unknown>): EntityJson['attrs'] {
  return Object.fromEntries(Object.entries(record).map(([key, inner]) => [key, explicit(inner)]));
}

/** What is no value of Cedar's is left to the engine to refuse: it checks all of them. */
function explicit(value: unknown): CedarValueJson {
  if (Array.isArray(value)) return value.map(explicit);
  if (isRecord(value)) {
    if (isUid(value)) return { __entity: value };
    const { __entity: entity } = value;
    return isUid(entity) ? { __entity: entity } : explicitRecord(value);
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : null;
}

/** The given entities that can matter: those named, and all that these lead to. */
export function entitiesFrom(
  entities: EntityMap,
  starts: Iterable<TypeAndId>,
): readonly EntityJson[] {
  const reached = new Map<string, EntityJson>();
  const open = [...starts];
  for (let uid = open.pop(); uid !== undefined; uid = open.pop()) {
    const key = keyOf(uid);
    const entity = entities.get(key);
    if (entity === undefined || reached.has(key)) continue;
    reached.set(key, entity);
    open.push(...uidsIn([entity.parents, entity.attrs, entity.tags]));
  }
  return [...reached.values()];
}

/** Every entity that is named anywhere inside. */
export function uidsIn(value: unknown): readonly TypeAndId[] {
  if (Array.isArray(value)) return value.flatMap(uidsIn);
  if (!isRecord(value)) return [];
  return isUid(value) ? [value] : Object.values(value).flatMap(uidsIn);
}

export function uidOf(uid: EntityJson['uid']): TypeAndId {
  return '__entity' in uid ? uid['__entity'] : uid;
}

export function keyOf({ type, id }: TypeAndId): string {
  return `${type}::${JSON.stringify(id)}`;
}

function isUid(value: unknown): value is TypeAndId {
  if (!isRecord(value) || Object.keys(value).length !== 2) return false;
  return typeof value['type'] === 'string' && typeof value['id'] === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
