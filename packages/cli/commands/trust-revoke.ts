import { isFailure } from '@subluminal/contracts';
import { revokeTrust } from '@subluminal/plane/policy';
import { defineCommand, done, EXIT, optional } from '../input/command.ts';
import { BAD_TRUST, JSON_FLAG, TRUST_FILE_DOC } from '../input/shared-options.ts';
import { harmless, jsonText } from '../terminal/text.ts';
import { findProjectPolicy } from '../trust/project-policy.ts';

export const command = defineCommand({
  description:
    'From its next start on, a run uses this policy only to tighten your own. It does not ask: revoking trust allows nothing new.',
  args: { file: optional(TRUST_FILE_DOC) },
  options: { json: JSON_FLAG },
  examples: ['sub trust revoke', 'sub trust revoke policy.yaml'],
  exitCodes: { 0: 'the policy is not trusted', 2: BAD_TRUST },
  run: async ({ args, options }, io) => {
    const place = findProjectPolicy(args.file);
    if (isFailure(place)) return place;
    const { home, path } = place;
    const saved = await revokeTrust(home, path);
    if (isFailure(saved)) return saved;
    if (options.json) io.out.write(jsonText({ path, revoked: saved }));
    else {
      const words = saved ? 'is not trusted any more' : 'was not trusted';
      io.out.write(`${harmless(path)} ${words}.\n`);
    }
    return done(EXIT.fine);
  },
});
