// Secrets of 1Password, from a Connect server: `op://VAULT/ITEM/FIELD`, or with a section before the
// field. Vaults and items are named by their names or by their ids.
import { type Failure, isFailure } from '@subluminal/contracts';
import { attempt } from '../../os/index.ts';
import { missingSecret, unusableSecret } from './secret-file.ts';
import { getJson, jsonField, type SecretService } from './secret-service.ts';

const ID = /^[a-z0-9]{26}$/;

export async function fromConnect(ref: string, service: SecretService): Promise<string | Failure> {
  const parts = attempt(() => ref.slice('op://'.length).split('/').map(decodeURIComponent)) ?? [];
  const [vault = '', item = '', ...field] = parts;
  if (parts.length < 3 || parts.length > 4 || parts.includes('')) {
    return unusableSecret('the reference has another form.', 'Write op://VAULT/ITEM/FIELD.');
  }
  const vaultId = await findId(service, { list: ['vaults'], by: 'name', name: vault });
  if (isFailure(vaultId)) return vaultId;
  const items = ['vaults', vaultId, 'items'];
  const itemId = await findId(service, { list: items, by: 'title', name: item });
  if (isFailure(itemId)) return itemId;
  const found = await ask(service, [...items, itemId]);
  return isFailure(found) ? found : findField(found.json, field);
}

interface ListedName {
  readonly list: readonly string[];
  readonly by: 'name' | 'title';
  readonly name: string;
}

/** Finds an id by its name; never guesses between two of one name. */
async function findId(
  service: SecretService,
  { list, by, name }: ListedName,
): Promise<string | Failure> {
  if (ID.test(name)) return name;
  const filter = `${by} eq "${name.replaceAll(/["\\]/g, '\\$&')}"`;
  const found = await ask(service, list, { filter });
  if (isFailure(found)) return found;
  const all: readonly unknown[] = Array.isArray(found.json) ? found.json : [];
  // A server may match more loosely than asked.
  const ids = all.filter((one) => jsonField(one, by) === name).map((one) => jsonField(one, 'id'));
  const [id] = ids;
  const what = by === 'name' ? 'vault' : 'item';
  if (ids.length > 1) {
    const message = `${service.title} has several of that ${what}.`;
    return unusableSecret(message, `Name the ${what} by its id.`);
  }
  if (typeof id === 'string' && ID.test(id)) return id;
  const fix = `Check its ${by}, and what the token may read.`;
  return missingSecret(`${service.title} shows no such ${what}.`, fix);
}

function ask(
  service: SecretService,
  path: readonly string[],
  query: { readonly [name: string]: string } = {},
) {
  const headers = { authorization: `Bearer ${service.token}` };
  return getJson(service, { path: ['v1', ...path], query, headers });
}

/** The last part is the field, the one before it its section. Both by label or by id. */
function findField(item: unknown, parts: readonly string[]): string | Failure {
  const name = parts.at(-1) ?? '';
  const section = parts.length > 1 ? parts[0] : undefined;
  const fields = jsonField(item, 'fields');
  const all: readonly unknown[] = Array.isArray(fields) ? fields : [];
  const found = all.filter(
    (field) =>
      isCalled(field, name) &&
      (section === undefined || isCalled(jsonField(field, 'section'), section)),
  );
  if (found.length > 1) {
    return unusableSecret('the item has several such fields.', 'Name the section too, or the id.');
  }
  const value = jsonField(found[0], 'value');
  if (typeof value === 'string' && value !== '') return value;
  const message = 'the item has no such field, or it is empty.';
  return missingSecret(message, 'Check the label of the field.');
}

function isCalled(thing: unknown, name: string): boolean {
  return jsonField(thing, 'label') === name || jsonField(thing, 'id') === name;
}
