import { openVault } from '@subluminal/plane/vault';
import { defineCommand, done, EXIT } from '../input/command.ts';
import { JSON_FLAG, NO_STORE } from '../input/shared-options.ts';
import { protectionText, serversBoundTo, withSecrets } from '../secrets/secrets-home.ts';
import { tableText } from '../terminal/table.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';

const COLUMNS = [
  { title: 'name', lengthMax: 64 },
  { title: 'added' },
  { title: 'rotated' },
  { title: 'used by', lengthMax: 80 },
];

export const command = defineCommand({
  description:
    'Lists names, when each secret was added and rotated, and which servers are bound to it. Reports how the key of the store is protected. Checks the whole store first: a store that was tampered with is not listed.',
  options: { json: JSON_FLAG },
  examples: ['sub secrets list', 'sub secrets list --json'],
  exitCodes: { 0: 'the list is printed; it may be empty', 2: NO_STORE },
  run: async ({ options }, io) => {
    return withSecrets(io, async (found) => {
      const vault = await openVault(found.options);
      if (vault?.kind === 'failure') return vault;
      vault?.close();
      const secrets = (vault?.secrets ?? []).map((secret) => ({
        ...secret,
        usedBy: serversBoundTo(secret.name, found.servers),
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
    });
  },
});

/** To the minute; JSON has the rest. */
function day(time: string | null): string | null {
  return time && `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}
