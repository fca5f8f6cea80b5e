// Secrets of 1Password, from a Connect server: `op://VAULT/ITEM/FIELD`, or with a section before
// the field. Vaults and items are named by their names or by their ids.
import type { Fetched, NotFetched } from './secret-file.ts';
import { fieldOf, getJson, missing, notFetched, type Service } from './secret-service.ts';

type Ready = Extract<Service, { readonly ok: true }>;
type Found = { readonly ok: true; readonly json: unknown } | NotFetched;

const TITLE = '1Password Connect';
const ID = /^[a-z0-9]{26}$/;

export async function fromConnect(ref: string, service: Ready): Promise<Fetched> {
  const parts = placeOf(ref);
  const [vault = '', item = '', ...rest] = parts ?? [];
  if (parts === undefined) {
    return notFetched('that is no reference to it', 'Write op://VAULT/ITEM/FIELD.');
  }
  const vaultId = await idOf(service, { list: ['vaults'], by: 'name', name: vault });
  if (!vaultId.ok) return vaultId;
  const items = ['vaults', vaultId.value, 'items'];
  const itemId = await idOf(service, { list: items, by: 'title', name: item });
  if (!itemId.ok) return itemId;
  const found = await ask(service, [...items, itemId.value]);
  return found.ok ? valueIn(found.json, rest) : found;
}

function placeOf(ref: string): readonly string[] | undefined {
  try {
    const parts = ref.slice('op://'.length).split('/').map(decodeURIComponent);
    const isWhole = parts.length >= 3 && parts.length <= 4 && !parts.includes('');
    return isWhole ? parts : undefined;
  } catch {
    return undefined;
  }
}

interface Listed {
  readonly list: readonly string[];
  readonly by: 'name' | 'title';
  readonly name: string;
}

/** By its name; two of one name are never guessed between. */
async function idOf(service: Ready, { list, by, name }: Listed): Promise<Fetched> {
  if (ID.test(name)) return { ok: true, value: name };
  const filter = `${by} eq "${name.replaceAll(/["\\]/g, '\\$&')}"`;
  const found = await ask(service, list, { filter });
  if (!found.ok) return found;
  const all: readonly unknown[] = Array.isArray(found.json) ? found.json : [];
  // A server may match more loosely than we asked for.
  const ids = all.filter((one) => fieldOf(one, by) === name).map((one) => fieldOf(one, 'id'));
  const [id] = ids;
  const what = by === 'name' ? 'vault' : 'item';
  if (ids.length > 1) {
    return notFetched(`${TITLE} has several of that ${what}`, `Name the ${what} by its id.`);
  }
  if (typeof id === 'string' && ID.test(id)) return { ok: true, value: id };
  return missing(`${TITLE} shows no such ${what}`, `Check its ${by}, and what the token may read.`);
}

async function ask(
  { base, token }: Ready,
  path: readonly string[],
  query: { readonly [name: string]: string } = {},
): Promise<Found> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await getJson({ base, path: ['v1', ...path], query, headers });
  if (!answer.ok) return notFetched(`${TITLE}: ${answer.message}`, 'Check its address.');
  const { status, json } = answer;
  if (status === 200 && json !== undefined) return { ok: true, json };
  if (status === 401 || status === 403) {
    return notFetched(`${TITLE} does not give it to this token`, 'Check the token and its vaults.');
  }
  if (status === 404) return missing(`${TITLE} has no such item`, 'Check the reference.');
  return notFetched(`${TITLE} answers with status ${status}`, 'Check its address.');
}

/** The last part is the field; what stands before it, its section. Both by label or by id. */
function valueIn(item: unknown, parts: readonly string[]): Fetched {
  const name = parts.at(-1) ?? '';
  const section = parts.length > 1 ? parts[0] : undefined;
  const fields = fieldOf(item, 'fields');
  const all: readonly unknown[] = Array.isArray(fields) ? fields : [];
  const found = all.filter(
    (field) =>
      isCalled(field, name) &&
      (section === undefined || isCalled(fieldOf(field, 'section'), section)),
  );
  if (found.length > 1) {
    return notFetched('the item has several such fields', 'Name the section too, or the id.');
  }
  const value = fieldOf(found[0], 'value');
  return typeof value === 'string' && value !== ''
    ? { ok: true, value }
    : missing('the item has no such field, or it is empty', 'Check the label of the field.');
}

function isCalled(thing: unknown, name: string): boolean {
  return fieldOf(thing, 'label') === name || fieldOf(thing, 'id') === name;
}
