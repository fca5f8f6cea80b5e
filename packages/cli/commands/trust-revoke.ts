import { revokeTrust } from '@subluminal/plane/policy';
import { defineCommand, optional, orThrow, printout } from '../input/command.ts';
import { BAD_TRUST, TRUST_FILE_DOC } from '../input/shared-options.ts';
import { harmlessLine } from '../terminal/text.ts';
import { findProjectPolicy } from '../trust/project-policy.ts';

export const command = defineCommand({
  description:
    'From its next start on, a run uses this policy only to tighten your own. It does not ask: revoking trust allows nothing new.',
  args: { file: optional(TRUST_FILE_DOC) },
  examples: ['sub trust revoke', 'sub trust revoke policy.yaml'],
  exitCodes: { 0: 'the policy is not trusted', 2: BAD_TRUST },
  run: async ({ args }) => {
    const place = orThrow(findProjectPolicy(args.file));
    const { home, path } = place;
    const saved = orThrow(await revokeTrust(home, path));
    const words = saved ? 'is not trusted any more' : 'was not trusted';
    return printout({ path, revoked: saved }, harmlessLine(`${path} ${words}.`));
  },
});
