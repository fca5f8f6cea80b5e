// `sub scan`: what the content gates would find in a file.
import { choice, createCommand, flag, type Input, text } from '../input/command.ts';

const SCAN_ARGS = {
  file: {
    doc: 'texts or JSON files; - or none reads standard input',
    many: true,
    optional: true,
  },
} as const;
const SCAN_OPTIONS = {
  as: choice(
    ['result', 'definition'],
    'what it is: definitions of tools are judged harder; result unless given',
  ),
  policy: text('file', 'say what the content section of this bundle or snapshot would do'),
  server: text('name', 'with --tool: propose suppressions for this server'),
  tool: text('name', 'with --server: the tool that they are for'),
  json: flag('print one JSON document instead of text'),
};

export const scan = createCommand({
  path: ['scan'],
  summary: 'look for secrets, personal data, injection and hidden text in files',
  description:
    'Looks through texts and JSON as the content gates of a shim do, and names each finding by its place, its rule and its fingerprint, never by its value. Fingerprints are those that the shims of this home compute, so that a false alarm can be suppressed in the policy.',
  args: SCAN_ARGS,
  options: SCAN_OPTIONS,
  examples: [
    'sub scan answer.json',
    'git diff | sub scan',
    'sub scan args.json --policy policy.yaml --server github --tool create_issue',
    'sub scan tools.json --as definition --json',
  ],
  exitCodes: {
    0: 'nothing was found that the policy does not suppress, and all text was looked at',
    1: 'something was found, or some text could not be looked at',
    2: 'wrong flags, or a file that cannot be read or is too large',
    70: 'a defect in sub itself',
  },
  load: () => import('../commands/scan.ts'),
});

export type ScanInput = Input<typeof SCAN_ARGS, typeof SCAN_OPTIONS>;
