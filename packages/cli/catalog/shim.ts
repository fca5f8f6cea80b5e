// `sub shim` as the other commands see it: for the help. It starts by the short way, shim.ts.

import { failure } from '@subluminal/contracts';
import { createCommand, flag, many, text } from '../input/command.ts';

export const shim = createCommand({
  path: ['shim'],
  summary: 'stand between an agent and one MCP server on stdio',
  description:
    'Starts the server and passes everything between it and the agent on as it is. Tool calls are ' +
    'decided by the policy first, and recorded. Without --policy, that of the user holds, and that ' +
    'of the project tightens it, or holds alone once it is trusted. Without any, calls are ' +
    'recorded, and only those that name what governs them are refused.',
  args: { command: many('the command of the server and its arguments, behind `--`') },
  options: {
    'server-name': text('name', 'the name of the server, as policies and events call it'),
    'server-id': text('name', 'another spelling of --server-name'),
    'server-env': text(
      'names',
      'variables, with commas between them, that say nothing of who acts; set by `sub import`',
    ),
    policy: text('file', 'the policy: a bundle or a compiled snapshot'),
    profile: text('name', 'production enforces, development only says what it would have done'),
    'governance-endpoint': text(
      'url',
      'the hub that counts for all servers of the run: unix:PATH or http://127.0.0.1:PORT',
    ),
    events: text('where', 'where events go: ledger, file:PATH or off'),
    'log-level': text('level', 'what goes to stderr as JSON lines: error, warn, info or debug'),
    verbose: flag('the same as --log-level debug'),
    wrap: text(
      'id',
      'the session of `sub wrap` that the config was written for; set by `sub wrap`',
    ),
  },
  examples: [
    'sub shim --server-name files -- npx -y @modelcontextprotocol/server-filesystem .',
    'sub shim --server-name git --policy policy.yaml --events file:events.jsonl -- git-mcp',
  ],
  exitCodes: {
    0: 'the agent closed the session, or the hub of the run has ended',
    1: 'the server could not be started',
    2: 'wrong flags, a broken policy or configuration, or a hub that is not there',
    3: 'the policy ended the run',
    70: 'a defect in sub itself',
  },
  // The launcher starts every shim itself, unless one of its words asks for help: here that word is
  // the value of an option, as in `--server-name -h`.
  load: () => Promise.resolve({ run: () => Promise.resolve(dashedValue()) }),
});

function dashedValue() {
  const fix = 'Write a value that starts with a dash in the same word: `--server-name=-h`.';
  return failure('SUB_USAGE', 'the value of an option looks like an option.', fix);
}
