import { isFailure } from '@subluminal/contracts';
import { type GrantEntry, grantWords } from '@subluminal/plane/approvals';
import { openOwnDesk, warnOfDamage } from '../approvals/desk.ts';
import { grantText } from '../approvals/render-approval.ts';
import { defineCommand, done, EXIT, flag } from '../input/command.ts';
import { JSON_FLAG } from '../input/shared-options.ts';
import { jsonText } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Lists the active grants: who created each, when and why, when it ends, and in words what it covers. `sub grants` alone does the same.',
  options: {
    all: flag('Also list grants that are used up, expired or revoked'),
    json: JSON_FLAG,
  },
  examples: ['sub grants list', 'sub grants', 'sub grants --all --json'],
  exitCodes: {
    0: 'the grants are listed',
    1: 'the grants are listed, and some files are damaged',
    2: 'wrong flags, or grants that cannot be read',
  },
  run: async ({ options }, io) => {
    const desk = openOwnDesk(io);
    if (isFailure(desk)) return desk;
    const all = desk.grants.list();
    if (isFailure(all)) return all;
    const isDamaged = warnOfDamage(all.damaged, io);
    const shown = all.found.filter(({ state }) => options.all || state === 'active');
    if (options.json) {
      const damaged = all.damaged.map(({ file, why }) => ({ file, why }));
      io.out.write(jsonText({ grants: shown.map(jsonOf), damaged }));
    } else if (shown.length === 0) io.out.write('Nothing is granted.\n');
    else for (const one of shown) io.out.write(grantText(one, io.out.colors));
    return done(isDamaged ? EXIT.findings : EXIT.fine);
  },
});

function jsonOf({ grant, state, end }: GrantEntry) {
  return { id: grant.id, state, covers: grantWords(grant), grant, end };
}
