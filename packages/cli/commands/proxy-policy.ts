// `sub proxy policy`: the rules of the gateway that hold for this user.

import { join } from 'node:path';
import { isFailure, isObject, POLICY_SNIPPET, parseAs } from '@subluminal/contracts';
import { attempt, parseJson, readPrivateFile, writePrivateFile } from '@subluminal/plane/os';
import { defineCommand, printout } from '../input/command.ts';
import { developerMachine, requireLogin, withGateway } from '../proxy/developer-machine.ts';
import { tableText } from '../terminal/table.ts';
import { harmless } from '../terminal/text.ts';

const BYTES_MAX = 4 * 1_048_576;

export const policy = defineCommand({
  description:
    'Shows the rules of the gateway that can apply to you, in the order in which they are checked. A copy is kept, so that unchanged rules are not sent again.',
  examples: ['sub proxy policy', 'sub proxy policy --json'],
  exitCodes: {
    0: 'the rules are printed; there may be none',
    2: 'wrong flags, nobody is logged in, or the gateway cannot be reached',
  },
  run: async (_input, io) => {
    const machine = await developerMachine();
    const login = await requireLogin(machine);
    const file = join(machine.paths.run, 'proxy-policy.json');
    const kept = keptCopy(file, login.gatewayUrl);
    const found = await withGateway(machine, login, (client) => client.policySnippet(kept?.etag));
    if (isFailure(found)) return found;
    const snippet = found === 'unchanged' ? kept?.snippet : found.snippet;
    if (snippet === undefined) throw new Error('nothing can be unchanged without a copy');
    if (found !== 'unchanged' && found.etag !== undefined) {
      const copy = { gateway_url: login.gatewayUrl, etag: found.etag, snippet };
      attempt(() => writePrivateFile(file, JSON.stringify(copy), { isLasting: false }));
    }
    const { version, rules } = snippet;
    const rows = rules.map((rule) => {
      const fields = isObject(rule) ? rule : {};
      const cell = (name: string) => {
        const value = fields[name];
        return typeof value === 'string' || typeof value === 'number' ? String(value) : '-';
      };
      // A rule that only changes a turn, or only tells about it, has no primary action.
      const verbs = [fields['action'], fields['modifiers'], fields['sideEffects']]
        .flat()
        .filter((verb) => typeof verb === 'string');
      const action = verbs.length === 0 ? '-' : verbs.join(', ');
      return [cell('priority'), cell('id'), action, cell('description')];
    });
    const titles = [
      { title: 'PRIORITY', right: true },
      { title: 'RULE', widthMin: 12 },
      { title: 'ACTION' },
      { title: 'DESCRIPTION', widthMin: 12 },
    ];
    const table = tableText(titles, rows, { width: io.out.columns });
    const none = 'No rule: every turn goes by the defaults of the gateway.\n';
    const text = `${rows.length === 0 ? none : table}Version ${harmless(version)} of ${harmless(login.gatewayUrl)}.\n`;
    return printout({ gateway_url: login.gatewayUrl, version, rules }, text);
  },
});

/** What was sent before, with the tag that tells whether it still holds. */
function keptCopy(file: string, gatewayUrl: string) {
  const read = readPrivateFile(file, { bytesMax: BYTES_MAX, isSecret: true });
  const value = read.kind === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  if (!isObject(value) || value['gateway_url'] !== gatewayUrl) return undefined;
  const { etag } = value;
  const snippet = parseAs(POLICY_SNIPPET, value['snippet']);
  return typeof etag === 'string' && snippet.ok ? { etag, snippet: snippet.value } : undefined;
}
