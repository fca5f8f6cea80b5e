// `sub grants`: list and revoke grants.
import { grantWords, shortId } from '@subluminal/plane/approvals';
import {
  findGrantEntry,
  openOwnDesk,
  undecidedFailure,
  userName,
  warnOfDamage,
} from '../approvals/desk.ts';
import { grantText } from '../approvals/render-approval.ts';
import { defineCommand, EXIT, orThrow, printout } from '../input/command.ts';
import { ID_DOC } from '../input/shared-options.ts';
import { harmless } from '../terminal/text.ts';

export const list = defineCommand({
  description:
    'Lists the active grants: who created each, when and why, when it ends, and in words what it covers. `sub grants` alone does the same.',
  options: {
    all: 'Also list grants that are used up, expired or revoked',
  },
  examples: ['sub grants list', 'sub grants', 'sub grants --all --json'],
  exitCodes: {
    0: 'the grants are listed',
    1: 'the grants are listed, and some files are damaged',
    2: 'wrong flags, or grants that cannot be read',
  },
  run: async ({ options }, io) => {
    const desk = openOwnDesk(io);
    const all = orThrow(desk.grants.list());
    const damaged = warnOfDamage(all.damaged, io);
    const shown = all.found.filter(({ state }) => options.all || state === 'active');
    const grants = shown.map(({ grant, state, end }) => {
      return { id: grant.id, state, covers: grantWords(grant), grant, end };
    });
    const text = shown.map((one) => grantText(one, io.out.colors)).join('');
    const exitCode = damaged.length > 0 ? EXIT.findings : EXIT.fine;
    return printout({ grants, damaged }, text || 'Nothing is granted.\n', exitCode);
  },
});

export const revoke = defineCommand({
  description: 'Revokes a grant, permanently and for every process at once.',
  args: { id: ID_DOC },
  examples: ['sub grants revoke 9f8e7d6c'],
  exitCodes: {
    0: 'the grant is revoked',
    1: 'the grant had ended already; nothing changed',
    2: 'wrong flags, no such grant, no terminal, or started inside a run',
  },
  requires: 'terminal',
  run: async ({ args }, io) => {
    const desk = openOwnDesk(io);
    const found = findGrantEntry(desk, args.id);
    const changed = desk.grants.revoke(found.grant.id, userName());
    if (changed.kind !== 'done' && changed.kind !== 'already') return undecidedFailure(changed);
    const { grant, end } = changed.entry;
    const isOurs = changed.kind === 'done';
    const words = harmless(`${shortId(grant.id)} was ${end?.state} by ${end?.by} at ${end?.at}.`);
    const text = `${isOurs ? '' : 'Nothing was changed. '}${words}\n`;
    const exitCode = isOurs ? EXIT.fine : EXIT.findings;
    return printout({ changed: isOurs, id: grant.id, end }, text, exitCode);
  },
});
