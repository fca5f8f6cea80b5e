import { grantWords } from '@subluminal/plane/approvals';
import { openOwnDesk, warnOfDamage } from '../approvals/desk.ts';
import { grantText } from '../approvals/render-approval.ts';
import { defineCommand, EXIT, orThrow, printout } from '../input/command.ts';

export const command = defineCommand({
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
