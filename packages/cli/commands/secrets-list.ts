import { openVault } from '@subluminal/plane/vault';
import { defineCommand, orThrow, printout } from '../input/command.ts';
import { NO_STORE } from '../input/shared-options.ts';
import { protectionText, serversBoundTo, withSecrets } from '../secrets/secrets-home.ts';
import { tableText } from '../terminal/table.ts';
import { harmlessLine, plural } from '../terminal/text.ts';

const COLUMNS = [
  { title: 'name', lengthMax: 64 },
  { title: 'added' },
  { title: 'rotated' },
  { title: 'used by', lengthMax: 80 },
];

export const command = defineCommand({
  description:
    'Lists names, when each secret was added and rotated, and which servers are bound to it. Reports how the key of the store is protected. Checks the whole store first: a store that was tampered with is not listed.',
  examples: ['sub secrets list', 'sub secrets list --json'],
  exitCodes: { 0: 'the list is printed; it may be empty', 2: NO_STORE },
  run: async (_input, io) => {
    return withSecrets(io, async (found) => {
      const vault = orThrow(await openVault(found.options));
      vault?.close();
      const secrets = (vault?.secrets ?? []).map((secret) => ({
        ...secret,
        usedBy: serversBoundTo(secret.name, found.servers),
      }));
      const listed = secrets.map(({ name, addedAt, rotatedAt, usedBy }) => {
        return { name, added_at: addedAt, rotated_at: rotatedAt, used_by: usedBy };
      });
      const document = { protection: vault?.protection ?? null, secrets: listed };
      if (vault === undefined) {
        const none = 'There is no store of secrets yet; `sub secrets add NAME` makes it.\n';
        return printout(document, none);
      }
      const rows = secrets.map(({ name, addedAt, rotatedAt, usedBy }) => {
        return [name, day(addedAt), day(rotatedAt), usedBy.join(', ')];
      });
      const table = rows.length > 0 ? tableText(COLUMNS, rows) : '';
      const where = protectionText(vault.protection, found.home);
      return printout(
        document,
        table + harmlessLine(`${plural(rows.length, 'secret')}; ${where}.`),
      );
    });
  },
});

/** To the minute; JSON has the rest. */
function day(time: string | null): string | null {
  return time && `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}
