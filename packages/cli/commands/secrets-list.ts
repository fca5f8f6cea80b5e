import { openVault } from '@subluminal/plane/vault';
import type { SecretsListInput } from '../catalog/secrets.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import {
  failureOf,
  protectionText,
  type SecretsHome,
  usersOf,
  withSecrets,
} from '../secrets/store.ts';
import type { Io } from '../terminal/io.ts';
import { tableText } from '../terminal/table.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';

const COLUMNS = [
  { title: 'name', lengthMax: 64 },
  { title: 'added' },
  { title: 'rotated' },
  { title: 'used by', lengthMax: 80 },
];

export function run(input: SecretsListInput, io: Io): Promise<Outcome> {
  return withSecrets(io, (found) => list(input, io, found));
}

async function list({ options }: SecretsListInput, io: Io, found: SecretsHome): Promise<Outcome> {
  const vault = await openVault(found.options);
  if (vault?.kind === 'fault') return failureOf(vault);
  vault?.close();
  const secrets = (vault?.secrets ?? []).map((secret) => ({
    ...secret,
    usedBy: usersOf(secret.name, found.servers),
  }));
  if (options.json) {
    const listed = secrets.map(({ name, addedAt, rotatedAt, usedBy }) => {
      return { name, added_at: addedAt, rotated_at: rotatedAt, used_by: usedBy };
    });
    io.out.write(jsonText({ protection: vault?.protection ?? null, secrets: listed }));
    return done(EXIT.fine);
  }
  if (vault === undefined) {
    io.out.write('There is no store of secrets yet; `sub secrets add NAME` makes it.\n');
    return done(EXIT.fine);
  }
  const rows = secrets.map(({ name, addedAt, rotatedAt, usedBy }) => {
    return [name, day(addedAt), day(rotatedAt), usedBy.join(', ')];
  });
  if (rows.length > 0) io.out.write(tableText(COLUMNS, rows, (line) => line));
  const where = protectionText(vault.protection, found.home);
  io.out.write(`${harmless(`${plural(rows.length, 'secret')}; ${where}.`)}\n`);
  return done(EXIT.fine);
}

/** To the minute; JSON has the rest. */
function day(time: string | null): string | null {
  return time && `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}
