// What a moved secret is called in the store: by its client, its server and its variable.
import { isSecretName } from '../../../../stores/vault/index.ts';

const PART_LENGTH_MAX = 40;
const TRIES_MAX = 99;

interface Naming {
  readonly client: string;
  readonly server: string;
  readonly variable: string;
}

/** The names to try, in order: the first that is free, or that holds the same value, is taken. */
export function secretNames({ client, server, variable }: Naming): readonly string[] {
  const plain = [client, server, variable].map(partOf).join('.');
  const base = isSecretName(plain) ? plain : `moved.${partOf(variable)}`;
  return [base, ...Array.from({ length: TRIES_MAX - 1 }, (_, at) => `${base}-${at + 2}`)];
}

/** Letters, digits, `_` and `-`; whatever else was there may be anything. */
function partOf(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return plain.slice(0, PART_LENGTH_MAX) || 'x';
}
