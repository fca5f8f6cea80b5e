import { isFailure } from '@subluminal/contracts';
import { revokeTrust } from '@subluminal/plane/policy';
import { defineCommand, optional, printout } from '../input/command.ts';
import { BAD_TRUST, JSON_FLAG, TRUST_FILE_DOC } from '../input/shared-options.ts';
import { harmlessLine } from '../terminal/text.ts';
import { findProjectPolicy } from '../trust/project-policy.ts';

export const command = defineCommand({
  description:
    'From its next start on, a run uses this policy only to tighten your own. It does not ask: revoking trust allows nothing new.',
  args: { file: optional(TRUST_FILE_DOC) },
  options: { json: JSON_FLAG },
  examples: ['sub trust revoke', 'sub trust revoke policy.yaml'],
  exitCodes: { 0: 'the policy is not trusted', 2: BAD_TRUST },
  run: async ({ args }) => {
    const place = findProjectPolicy(args.file);
    if (isFailure(place)) return place;
    const { home, path } = place;
    const saved = await revokeTrust(home, path);
    if (isFailure(saved)) return saved;
    const words = saved ? 'is not trusted any more' : 'was not trusted';
    return printout({ path, revoked: saved }, harmlessLine(`${path} ${words}.`));
  },
});
