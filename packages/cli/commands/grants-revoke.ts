import { shortId } from '@subluminal/plane/approvals';
import { findGrantEntry, openOwnDesk, undecidedFailure, userName } from '../approvals/desk.ts';
import { defineCommand, EXIT, printout } from '../input/command.ts';
import { ID_DOC } from '../input/shared-options.ts';
import { harmless } from '../terminal/text.ts';

export const command = defineCommand({
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
