// Secrets of the store on their way back into a config.
import type { ConfigProblem, MovedSecret } from '../../../clients/index.ts';
import type { StorePorts } from '../../../clients/store/ports.ts';
import { problem } from '../../../clients/store/problem.ts';
import { isOf } from '../../../clients/store/record.ts';
import type { ConfigRecord } from '../../../clients/store/record-text.ts';
import {
  isVaultFault,
  openVault,
  type VaultFault,
  type VaultOptions,
} from '../../../vault/index.ts';
import { type AdoptProblem, adoptProblem } from '../problem.ts';
import { uncut } from './cut.ts';
import { putInto } from './put-back.ts';

type PutBack = (text: string, record: ConfigRecord) => string | ConfigProblem;

/** By a function alone, so that no dump shows a value. */
interface Returning {
  readonly kind: 'returning';
  readonly putBack: PutBack;
}

/** Opens the store for the secrets of one record; refuses when one of them is gone. */
async function returning(
  { path, moved = [] }: ConfigRecord,
  options: VaultOptions,
  sha256: StorePorts['sha256'],
): Promise<Returning | AdoptProblem> {
  const vault = await openVault(options);
  if (isVaultFault(vault)) return unopened(path, vault);
  const values = new Map<string, string>();
  try {
    for (const { secret } of moved) {
      const value = vault?.value(secret);
      if (isVaultFault(value)) return unopened(path, value);
      if (value === undefined) return gone(path, secret);
      values.set(secret, value);
    }
  } finally {
    vault?.close();
  }
  return { kind: 'returning', putBack: (text, record) => filled(text, { record, values, sha256 }) };
}

function unopened(path: string, { code, message, fix }: VaultFault): AdoptProblem {
  return adoptProblem(
    code,
    `${path} cannot be put back, its secrets are in the store: ${message}`,
    fix,
  );
}

function gone(path: string, secret: string): AdoptProblem {
  const message = `${path} cannot be put back: the store has no secret \`${secret}\` any more.`;
  const fix = `Store it again with \`sub secrets add ${secret}\`, then restore.`;
  return adoptProblem('SUB_SECRET_UNKNOWN', message, fix);
}

interface Filling {
  readonly record: ConfigRecord;
  readonly values: ReadonlyMap<string, string>;
  readonly sha256: StorePorts['sha256'];
}

/** Into the very text they were cut out of, to the byte; into any other, where they belong. */
function filled(text: string, { record, values, sha256 }: Filling): string | ConfigProblem {
  const { path, format, moved = [] } = record;
  let isExact = isOf(record.base, Buffer.from(text), sha256);
  let next = text;
  for (const one of moved.toReversed()) {
    const value = values.get(one.secret);
    if (value === undefined) {
      return problem(path, `The record of ${path} has just changed.`, 'Try again.');
    }
    isExact &&= one.cut !== undefined;
    if (isExact && one.cut !== undefined) {
      next = uncut(next, one.cut, value);
      continue;
    }
    const put = putInto(next, { format, path: one.path, value });
    if (put.kind === 'refused') return noPlace(path, one);
    if (put.kind === 'put') next = put.text;
  }
  return next;
}

function noPlace(path: string, { server, path: place, secret }: MovedSecret): ConfigProblem {
  const message = `There is no safe place in ${path} for ${String(place.at(-1))} of ${server}.`;
  return problem(
    path,
    message,
    `Write it there by hand: \`sub secrets get ${secret}\` prints it. Then restore.`,
  );
}

export type { PutBack };
export { returning };
