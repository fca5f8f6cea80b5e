// Tools that do not exist yet: a worker writes one, its tests run in the sandbox, and the user decides.
import { isFailure } from '@subluminal/contracts';
import { closed, required, string } from '@subluminal/contracts/shape';
import { type OwnServer, ownTool } from '@subluminal/plane/agent-run';
import { makeTool, type ToolWorker } from '../../expansion/index.ts';
import { type ConfigProposals, proposalAnswer } from '../../proposals/index.ts';
import type { SandboxPorts } from '../../sandbox/index.ts';

export interface ToolsmithServerOptions {
  readonly worker: ToolWorker;
  readonly ports: SandboxPorts;
  readonly proposals: ConfigProposals;
  /** The run that proposes. */
  readonly runId: () => string;
}

const PROPOSE = closed({
  name: required(string({ lengthMax: 64 }), 'Small letters, digits, _ and -.'),
  purpose: required(
    string({ lengthMax: 8_000 }),
    'What the tool does: its arguments, its result, the hosts and files it needs.',
  ),
  why: required(string({ lengthMax: 512 }), 'What you need it for, for the user.'),
});
const NAME = /^[a-z][a-z0-9_-]{0,61}[a-z0-9]$/;

export function toolsmithServer(options: ToolsmithServerOptions): OwnServer {
  const { worker, ports, proposals, runId } = options;
  return {
    name: 'toolsmith',
    tools: [
      ownTool({
        name: 'propose',
        description:
          'Have a new tool written when neither your tools nor an MCP server can do something. Its code and its permissions are shown to the user, and it is used once they have merged it.',
        input: PROPOSE,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
        call: async ({ name, purpose, why }, { key, signal }) => {
          if (!NAME.test(name)) {
            return { text: 'A name has small letters, digits, _ and -.', isError: true };
          }
          const known = proposals.list().find(({ keys }) => keys.includes(key));
          const made = known ?? (await makeTool({ name, purpose }, { worker, ports, signal }));
          if (isFailure(made) || 'id' in made) return proposalAnswer(made);
          const { files, testCount } = made;
          const tested = `${testCount} of its own tests passed, without network, files and secrets.`;
          const about = { key, runId: runId(), why: `${why} ${tested}` };
          return proposalAnswer(await proposals.propose({ ...about, files }));
        },
      }),
    ],
  };
}
